/*
 * A scheme with a login, as a NevodHost plugin in C. From the root of the repository:
 *
 * cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wl,-z,defs -ISources/NevodPluginABI/include Examples/c-session/session.c -o libSessionC.so
 *
 * The response to POST /login with user and password has two lines: a session, sent as X-Session, and a renewal, which POST /renew
 * exchanges for a new pair, once. Both together are the token. Part of NevodHost. MIT licence.
 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "nevod_plugin.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))
#define NOTHING ((nevod_bytes){NULL, 0})

/* Room for a form or a URL. Text that doesn't fit is dropped, and `overflows` is set. */
typedef struct text {
    uint8_t bytes[2048];
    size_t count;
    int overflows;
} text;

static void append(text *to, nevod_bytes from)
{
    if (from.count > sizeof to->bytes - to->count) {
        to->overflows = 1;
    } else if (from.count > 0) {
        memcpy(to->bytes + to->count, from.data, (size_t)from.count);
        to->count += (size_t)from.count;
    }
}

/* Escaping every byte is correct too, and shorter. */
static void append_encoded(text *to, nevod_bytes from)
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint64_t i = 0; i < from.count; i++)
        append(to, (nevod_bytes){(uint8_t[]){'%', (uint8_t)digits[from.data[i] >> 4], (uint8_t)digits[from.data[i] & 15]}, 3});
}

/* Line 0 or 1 of a token, without its line break. */
static nevod_bytes line(nevod_bytes token, int index)
{
    for (const uint8_t *end; token.count > 0 && (end = memchr(token.data, '\n', (size_t)token.count)) != NULL; index--) {
        nevod_bytes found = {token.data, (uint64_t)(end - token.data)};
        if (index == 0)
            return found;
        token = (nevod_bytes){end + 1, token.count - found.count - 1};
    }
    return NOTHING;
}

static int32_t fail(const nevod_errors *errors, int32_t status, nevod_bytes message)
{
    errors->report(errors->host, NOTHING, message, NOTHING);
    return status;
}

/* An instance is the server's address. */
static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)host, (void)value_count; /* there is one setting, and it is required */
    text *server = *out = calloc(1, sizeof *server);
    if (server == NULL)
        return fail(errors, NEVOD_INTERNAL, TEXT("out of memory"));
    append(server, values[0].value);
    while (server->count > 0 && server->bytes[server->count - 1] == '/')
        server->count--;
    return NEVOD_OK;
}

/* A decoded token is the line that goes on requests. It is created once for each token, and never changes. */
static int32_t token_decode(void *instance, nevod_bytes bytes, void **out, const nevod_errors *errors)
{
    (void)instance;
    nevod_bytes session = line(bytes, 0);
    if (session.count == 0 || line(bytes, 1).count == 0)
        return fail(errors, NEVOD_BAD_TOKEN, TEXT("it is not of two lines"));
    text *token = *out = calloc(1, sizeof *token);
    if (token == NULL)
        return fail(errors, NEVOD_INTERNAL, TEXT("out of memory"));
    append(token, session);
    return NEVOD_OK;
}

static void token_free(void *instance, void *token)
{
    (void)instance, explicit_bzero(token, sizeof(text)), free(token);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)instance, (void)view;
    const text *session = token;
    if (session == NULL)
        return fail(errors, NEVOD_BAD_TOKEN, TEXT("there is no token yet: log in first"));
    edits->set_header(edits->host, TEXT("X-Session"), (nevod_bytes){session->bytes, session->count});
    return NEVOD_OK;
}

/* The event tells the flow's progress, so that a flow only has to store its kind. */
typedef struct flow { int32_t kind; } flow;

static int32_t flow_begin(void *instance, int32_t kind, void **out, const nevod_errors *errors)
{
    (void)instance;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH && kind != NEVOD_FLOW_LOGOUT)
        return NEVOD_UNSUPPORTED; /* there is no such flow: the host works without it */
    flow *self = *out = calloc(1, sizeof *self);
    if (self == NULL)
        return fail(errors, NEVOD_INTERNAL, TEXT("out of memory"));
    self->kind = kind;
    return NEVOD_OK;
}

static void flow_free(void *instance, void *self) { (void)instance, free(self); }

static const nevod_question user_question = {
    .struct_size = sizeof(nevod_question), .kind = NEVOD_QUESTION_TEXT, .name = NEVOD_BYTES("user"), .prompt = NEVOD_BYTES("User")};
static const nevod_question password_question = {
    .struct_size = sizeof(nevod_question), .kind = NEVOD_QUESTION_SECRET, .name = NEVOD_BYTES("password"),
    .prompt = NEVOD_BYTES("Password")};
static const nevod_question *const questions[] = {&user_question, &password_question};

static int32_t post(const text *server, const nevod_actions *actions, nevod_bytes path, const nevod_pair *fields, uint32_t count,
                    const nevod_errors *errors)
{
    static const nevod_pair type = {NEVOD_BYTES("Content-Type"), NEVOD_BYTES("application/x-www-form-urlencoded")};
    text url = *server, form = {.count = 0};
    append(&url, path);
    for (uint32_t i = 0; i < count; i++) {
        append(&form, i > 0 ? TEXT("&") : NOTHING);
        append(&form, fields[i].name);
        append(&form, TEXT("="));
        append_encoded(&form, fields[i].value);
    }
    const nevod_flow_request request = {
        .struct_size = sizeof request, .header_count = 1, .method = NEVOD_BYTES("POST"), .headers = &type,
        .url = {url.bytes, url.count}, .body = {form.bytes, form.count}, .follow_redirects = 1};
    int32_t status = url.overflows || form.overflows ? fail(errors, NEVOD_UNSUPPORTED, TEXT("that is too long"))
                                                     : actions->send(actions->host, &request);
    explicit_bzero(&form, sizeof form); /* the host has a copy, and wipes that */
    return status;
}

static int32_t flow_step(void *instance, void *self, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    int32_t kind = ((flow *)self)->kind;
    switch (event->kind) {
    case NEVOD_EVENT_START: {
        if (kind == NEVOD_FLOW_LOGIN)
            return actions->ask(actions->host, questions, 2);
        const nevod_pair renewal = {TEXT("renewal"), line(event->token->bytes, 1)};
        return post(instance, actions, kind == NEVOD_FLOW_REFRESH ? TEXT("/renew") : TEXT("/logout"), &renewal, 1, errors);
    }
    case NEVOD_EVENT_ANSWERS:
        return post(instance, actions, TEXT("/login"), event->answers, event->answer_count, errors);
    case NEVOD_EVENT_RESPONSE: {
        nevod_token token = {.struct_size = sizeof token, .bytes = event->response->body};
        if (kind == NEVOD_FLOW_LOGOUT)
            token.bytes = NOTHING;
        else if (event->response->status == 403)
            return fail(errors, kind == NEVOD_FLOW_REFRESH ? NEVOD_BAD_TOKEN : NEVOD_DENIED, TEXT("the server refused it"));
        else if (event->response->status != 200 || line(token.bytes, 1).count == 0)
            return fail(errors, NEVOD_UNAVAILABLE, TEXT("the server's response is not a session"));
        return actions->token(actions->host, &token);
    }
    case NEVOD_EVENT_TRANSPORT_ERROR: return fail(errors, NEVOD_UNAVAILABLE, event->message);
    case NEVOD_EVENT_CANCELLED: return NEVOD_UNAVAILABLE;
    default: return fail(errors, NEVOD_UNSUPPORTED, TEXT("an event that this flow did not ask for"));
    }
}

static const nevod_setting server_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED,
    .name = NEVOD_BYTES("server"), .help = NEVOD_BYTES("Where to log in")};
static const nevod_setting *const settings[] = {&server_setting};

static const nevod_scheme session_scheme = {
    .struct_size = sizeof(nevod_scheme), .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("session"),
    .title = NEVOD_BYTES("Session with renewal (C)"), .settings = settings, .setting_count = 1,
    .create = create, .destroy = free, .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
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
