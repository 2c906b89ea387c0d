/* A login with user and password. The server issues an access token, sent on requests, and a renewal, exchanged for a new pair. */
#include "nevod_helpers.h"

/* The stored token is the server's response: {"access": "…", "renewal": "…", "seconds": 3600}. Returns whether it has that
 * member. */
static int member(nevod_bytes token, const char *name, nevod_buffer *value)
{
    nevod_bytes json;
    return nevod_json_read(token, &json) && nevod_json_string(nevod_json_member(json, nevod_text(name)), value) && !value->failed;
}

static void free_buffer(nevod_buffer *buffer)
{
    nevod_buffer_free(buffer);
    free(buffer);
}

/* An instance holds the server's address. */
static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)host;
    nevod_bytes server = nevod_find(values, value_count, NEVOD_TEXT("server"));
    while (server.count > 0 && server.data[server.count - 1] == '/')
        server.count--;
    nevod_buffer *self = malloc(sizeof *self);
    if (self == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    *self = nevod_copy(server);
    if (self->failed) {
        free_buffer(self);
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    }
    *out = self;
    return NEVOD_OK;
}

static void destroy(void *instance) { free_buffer(instance); }

/* A decoded token is the value of Authorization. Any number of requests may use it at once. */
static int32_t token_decode(void *instance, nevod_bytes bytes, void **out, const nevod_errors *errors)
{
    (void)instance;
    nevod_buffer *line = malloc(sizeof *line);
    if (line == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    *line = nevod_copy(NEVOD_TEXT("Bearer "));
    if (!member(bytes, "access", line)) {
        free_buffer(line);
        return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "it has no access token");
    }
    *out = line;
    return NEVOD_OK;
}

static void token_free(void *instance, void *token) { (void)instance, free_buffer(token); }

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)instance;
    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "this credential is for a server, not for a proxy");
    if (token == NULL)
        return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "there is no token yet: log in first");
    edits->set_header(edits->host, NEVOD_TEXT("Authorization"), nevod_written(token));
    return NEVOD_OK;
}

typedef struct flow {
    int32_t kind, line;
} flow;

static int32_t flow_begin(void *instance, int32_t kind, void **out, const nevod_errors *errors)
{
    (void)instance;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH && kind != NEVOD_FLOW_LOGOUT)
        return NEVOD_UNSUPPORTED;
    flow *self = *out = calloc(1, sizeof *self);
    if (self == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    self->kind = kind;
    return NEVOD_OK;
}

static void flow_free(void *instance, void *self) { (void)instance, free(self); }

static const nevod_question questions[] = {
    NEVOD_QUESTION(NEVOD_QUESTION_TEXT, "user", "User"),
    NEVOD_QUESTION(NEVOD_QUESTION_SECRET, "password", "Password"),
};

static int32_t issue(const nevod_step *step, int32_t refused)
{
    const nevod_response *response = step->event->response;
    nevod_buffer access = nevod_buffer_empty();
    nevod_bytes json;
    int64_t seconds = 0;
    int is_token = response->status == 200 && member(response->body, "access", &access);
    nevod_buffer_free(&access);
    if (response->status == 401 || response->status == 403)
        return nevod_fail(step->errors, refused, "", "the server refused it");
    if (!is_token)
        return nevod_fail(step->errors, NEVOD_UNAVAILABLE, "", "the server's response is no token");
    int expires = nevod_json_read(response->body, &json)
        && nevod_json_integer(nevod_json_member(json, NEVOD_TEXT("seconds")), &seconds) && seconds > 0 && seconds < 1000000000;
    return nevod_issue(step, response->body, expires ? step->event->unix_time_ns + seconds * 1000000000 : 0, NEVOD_NOTHING);
}

static int32_t login(nevod_bytes server, flow *self, const nevod_step *step)
{
    NEVOD_FLOW(&self->line);
    NEVOD_AWAIT(NEVOD_EVENT_ANSWERS, nevod_ask(step, questions, 2));
    NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, nevod_post_form(step, server, "/login", step->event->answers, step->event->answer_count));
    return issue(step, NEVOD_DENIED);
    NEVOD_FLOW_END;
}

static int32_t post_renewal(nevod_bytes server, const char *path, const nevod_step *step)
{
    nevod_buffer renewal = nevod_buffer_empty();
    int32_t status = NEVOD_BAD_TOKEN;
    if (step->event->token != NULL && member(step->event->token->bytes, "renewal", &renewal)) {
        const nevod_pair field = {NEVOD_TEXT("renewal"), nevod_written(&renewal)};
        status = nevod_post_form(step, server, path, &field, 1);
    }
    nevod_buffer_free(&renewal);
    return status;
}

static int32_t refresh(nevod_bytes server, flow *self, const nevod_step *step)
{
    NEVOD_FLOW(&self->line);
    NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(server, "/renew", step));
    return issue(step, NEVOD_BAD_TOKEN);
    NEVOD_FLOW_END;
}

static int32_t logout(nevod_bytes server, flow *self, const nevod_step *step)
{
    NEVOD_FLOW(&self->line);
    NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(server, "/logout", step));
    return nevod_issue(step, NEVOD_NOTHING, 0, NEVOD_NOTHING);
    NEVOD_FLOW_END;
}

static int32_t flow_step(void *instance, void *pointer, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    flow *self = pointer;
    nevod_bytes server = nevod_written(instance);
    nevod_step step = nevod_make_step(event, actions, errors);
    if (self->line == 0 && event->kind != NEVOD_EVENT_START)
        return nevod_unexpected(&step);
    return self->kind == NEVOD_FLOW_LOGIN  ? login(server, self, &step)
        : self->kind == NEVOD_FLOW_REFRESH ? refresh(server, self, &step)
                                           : logout(server, self, &step);
}

static const nevod_setting server_setting =
    NEVOD_SETTING(NEVOD_SETTING_URL, NEVOD_SETTING_REQUIRED, "server", "", "Where to log in");
static const nevod_setting *const settings[] = {&server_setting};

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("acme-keys"),
    .title = NEVOD_BYTES("A login with renewal"), .settings = settings, .setting_count = 1,
    .create = create, .destroy = destroy, .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
    .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free,
};
static const nevod_scheme *const schemes[] = {&scheme};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
        .scheme_count = 1, .schemes = schemes,
        .name = NEVOD_BYTES("AcmeKeysAuth"), .version = NEVOD_BYTES("0.1.0"), .vendor = NEVOD_BYTES("you"),
    };
    return &plugin;
}
