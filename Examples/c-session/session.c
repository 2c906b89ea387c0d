/*
 * A scheme with a login, as a NevodHost plugin in C. From the root of the repository:
 *
 * cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wl,-z,defs -ISources/NevodPluginABI/include -IBindings/C \
 *     Examples/c-session/session.c -o libSessionC.so
 *
 * The response to POST /login with user and password has two lines: a session, sent as X-Session, and a renewal, which POST /renew
 * exchanges for a new pair, once. Both together are the token. Part of NevodHost. MIT licence.
 */
#include "nevod_helpers.h"

/* Line 0 or 1 of a token. */
static nevod_bytes line(nevod_bytes token, int index)
{
    nevod_bytes first = nevod_split(&token, '\n');
    return index == 0 ? first : nevod_split(&token, '\n');
}

/* An instance is the server's address. A decoded token is the line that goes on requests. Neither ever changes. */
static int32_t made(void **out, nevod_bytes from, const nevod_errors *errors)
{
    nevod_buffer *buffer = malloc(sizeof *buffer);
    if (buffer != NULL)
        *buffer = nevod_copy(from);
    if (buffer == NULL || buffer->failed) {
        free(buffer);
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    }
    *out = buffer;
    return NEVOD_OK;
}

static void destroy(void *buffer) { nevod_buffer_free(buffer), free(buffer); }
static void token_free(void *instance, void *token) { (void)instance, destroy(token); }

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    nevod_bytes server = nevod_find(values, value_count, NEVOD_TEXT("server"));
    (void)scheme, (void)host;
    while (server.count > 0 && server.data[server.count - 1] == '/')
        server.count--;
    return made(out, server, errors);
}

static int32_t token_decode(void *instance, nevod_bytes bytes, void **out, const nevod_errors *errors)
{
    (void)instance;
    if (line(bytes, 0).count == 0 || line(bytes, 1).count == 0)
        return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "it is not of two lines");
    return made(out, line(bytes, 0), errors);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)instance;
    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "it is a session with an origin");
    if (token == NULL)
        return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "there is no token yet: log in first");
    edits->set_header(edits->host, NEVOD_TEXT("X-Session"), nevod_written(token));
    return NEVOD_OK;
}

typedef struct flow {
    int32_t kind, line;
    nevod_buffer pair; /* the two lines that the server issued */
} flow;

static int32_t flow_begin(void *instance, int32_t kind, void **out, const nevod_errors *errors)
{
    (void)instance;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH && kind != NEVOD_FLOW_LOGOUT)
        return NEVOD_UNSUPPORTED; /* no such flow: the host works without it */
    flow *self = *out = calloc(1, sizeof *self);
    if (self == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    self->kind = kind;
    return NEVOD_OK;
}

static void flow_free(void *instance, void *self) { (void)instance, nevod_buffer_free(&((flow *)self)->pair), free(self); }

static const nevod_question questions[] = {
    NEVOD_QUESTION(NEVOD_QUESTION_TEXT, "user", "User"), NEVOD_QUESTION(NEVOD_QUESTION_SECRET, "password", "Password")};

static int32_t post_renewal(const nevod_step *step, nevod_bytes server, const char *path)
{
    if (step->event->token == NULL)
        return nevod_fail(step->errors, NEVOD_BAD_TOKEN, "", "there is no token: log in first");
    const nevod_pair renewal = {NEVOD_TEXT("renewal"), line(step->event->token->bytes, 1)};
    return nevod_post_form(step, server, path, &renewal, 1);
}

static int32_t get_details(const nevod_step *step, nevod_bytes server, nevod_bytes pair)
{
    const nevod_pair session = {NEVOD_TEXT("X-Session"), line(pair, 0)};
    return nevod_get(step, server, "/session", &session, 1);
}

static int32_t issue(const nevod_step *step, nevod_bytes pair)
{
    nevod_bytes details;
    nevod_buffer account = nevod_buffer_empty();
    int64_t seconds = 0, expires = 0;
    if (step->event->response->status != 200 || !nevod_json_read(step->event->response->body, &details))
        return nevod_fail(step->errors, NEVOD_UNAVAILABLE, "", "the server's response is not a session's details");
    nevod_json_string(nevod_json_member(details, NEVOD_TEXT("user")), &account);
    if (nevod_json_integer(nevod_json_member(details, NEVOD_TEXT("seconds")), &seconds) && seconds > 0 && seconds < 1000000000)
        expires = step->event->unix_time_ns + seconds * 1000000000;
    int32_t status = nevod_issue(step, pair, expires, nevod_written(&account));
    nevod_buffer_free(&account);
    return status;
}

static int32_t flow_step(void *instance, void *pointer, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    const nevod_step here = nevod_make_step(event, actions, errors), *step = &here;
    nevod_bytes server = nevod_written(instance);
    flow *self = pointer;

    NEVOD_FLOW(&self->line);
    if (self->kind == NEVOD_FLOW_LOGOUT) {
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(step, server, "/logout"));
        return nevod_issue(step, NEVOD_NOTHING, 0, NEVOD_NOTHING);
    } else if (self->kind == NEVOD_FLOW_REFRESH) {
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(step, server, "/renew"));
    } else {
        NEVOD_AWAIT(NEVOD_EVENT_ANSWERS, nevod_ask(step, questions, 2));
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, nevod_post_form(step, server, "/login", event->answers, event->answer_count));
    }
    if (event->response->status == 403)
        return nevod_fail(errors, self->kind == NEVOD_FLOW_REFRESH ? NEVOD_BAD_TOKEN : NEVOD_DENIED, "", "the server refused it");
    self->pair = nevod_copy(event->response->body);
    if (event->response->status != 200 || line(nevod_written(&self->pair), 1).count == 0)
        return nevod_fail(errors, NEVOD_UNAVAILABLE, "", "the server's response is not a session");
    /* The server has spent the old renewal, so no later failure may lose the new one. */
    NEVOD_AWAIT(NEVOD_EVENT_KEPT, nevod_keep(step, nevod_written(&self->pair), 0, NEVOD_NOTHING));
    NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, get_details(step, server, nevod_written(&self->pair)));
    return issue(step, nevod_written(&self->pair));
    NEVOD_FLOW_END
}

static const nevod_setting server_setting =
    NEVOD_SETTING(NEVOD_SETTING_URL, NEVOD_SETTING_REQUIRED, "server", "", "Where to log in");
static const nevod_setting *const settings[] = {&server_setting};

static const nevod_scheme session_scheme = {
    .struct_size = sizeof(nevod_scheme), .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("session"),
    .title = NEVOD_BYTES("Session with renewal (C)"), .settings = settings, .setting_count = 1,
    .create = create, .destroy = destroy, .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
    .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free,
};
static const nevod_scheme *const schemes[] = {&session_scheme};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1,
        .schemes = schemes, .name = NEVOD_BYTES("SessionC"), .version = NEVOD_BYTES("1.0.0"),
        .vendor = NEVOD_BYTES("NevodHost"),
    };
    return &plugin;
}
