// Schemes with parameters. "session" has flows, whose tokens contain their number, their flow and their parameters. "strict" has a
// required parameter. `authorize` writes what it sees as X-Parameters.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

typedef struct {
    char url[256];
    atomic_int issued;
} instance;

typedef struct {
    instance *in;
    int32_t kind;
    char parameters[32768], token[32768];
} flow;

static const nevod_setting URL = {.struct_size = sizeof URL, .kind = NEVOD_SETTING_URL, .name = NEVOD_BYTES("url")};
static const nevod_setting *const SETTINGS[] = {&URL};

static const nevod_bytes LEVELS[] = {NEVOD_BYTES("low"), NEVOD_BYTES("high")};
static const nevod_setting SCOPE = {
    .struct_size = sizeof SCOPE, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REPEATABLE, .name = NEVOD_BYTES("scope"),
    .help = NEVOD_BYTES("What the request may do")};
static const nevod_setting ACR = {
    .struct_size = sizeof ACR, .kind = NEVOD_SETTING_CHOICE, .choices = LEVELS, .choice_count = 2, .name = NEVOD_BYTES("acr"),
    .default_value = NEVOD_BYTES("low")};
static const nevod_setting AGE = {.struct_size = sizeof AGE, .kind = NEVOD_SETTING_INTEGER, .name = NEVOD_BYTES("age")};
static const nevod_setting *const PARAMETERS[] = {&SCOPE, &ACR, &AGE};

static const nevod_setting RESOURCE = {
    .struct_size = sizeof RESOURCE, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED, .name = NEVOD_BYTES("resource"),
    .help = NEVOD_BYTES("The server that the request is for")};
static const nevod_setting *const STRICT_PARAMETERS[] = {&RESOURCE};

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)host, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    if (count) memcpy(in->url, values[0].value.data, values[0].value.count < 255 ? values[0].value.count : 255);
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in) { free(in); }

static void append(char *to, nevod_bytes bytes) {
    size_t used = strlen(to);
    if (bytes.count) memcpy(to + used, bytes.data, bytes.count);
    to[used + bytes.count] = 0;
}

static void list(char *to, const nevod_pair *pairs, uint32_t count) {
    *to = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i) append(to, text("|"));
        append(to, pairs[i].name), append(to, text("=")), append(to, pairs[i].value);
    }
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)in, (void)errors;
    char line[32768];
    list(line, view->parameters, view->parameter_count);
    edits->set_header(edits->host, text("X-Parameters"), text(line));
    if (token) edits->set_header(edits->host, text("X-Token"), ((const nevod_token *)token)->bytes);
    return NEVOD_OK;
}

static int32_t decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors) {
    (void)in, (void)errors;
    nevod_token *made = calloc(1, sizeof *made + bytes.count);
    if (!made) return NEVOD_INTERNAL;
    memcpy(made + 1, bytes.data, bytes.count);
    made->bytes = (nevod_bytes){(const uint8_t *)(made + 1), bytes.count};
    *token = made;
    return NEVOD_OK;
}

static void token_free(void *in, void *token) { (void)in, free(token); }

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors) {
    (void)errors;
    if (kind == NEVOD_FLOW_CHALLENGE) return NEVOD_UNSUPPORTED;
    flow *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    made->in = in;
    made->kind = kind;
    *out = made;
    return NEVOD_OK;
}

static int32_t step(void *in, void *made, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    (void)in, (void)errors;
    flow *f = made;
    if (event->kind == NEVOD_EVENT_START) {
        char url[512], body[65536] = {0};
        list(f->parameters, event->parameters, event->parameter_count);
        if (event->token) append(f->token, event->token->bytes);
        snprintf(url, sizeof url, "%s/%s", f->in->url,
                 f->kind == NEVOD_FLOW_LOGIN ? "login" : f->kind == NEVOD_FLOW_REFRESH ? "refresh" : "logout");
        append(body, text(f->parameters)), append(body, text(" ")), append(body, text(f->token));
        nevod_flow_request request = {
            .struct_size = sizeof request, .method = text("POST"), .url = text(url), .body = text(body)};
        return actions->send(actions->host, &request), NEVOD_OK;
    }
    if (event->kind != NEVOD_EVENT_RESPONSE || event->response->status != 200) return NEVOD_UNAVAILABLE;
    char token[65536];
    snprintf(token, sizeof token, "%d %s", atomic_fetch_add(&f->in->issued, 1) + 1, f->parameters);
    nevod_token issued = {.struct_size = sizeof issued, .bytes = f->kind == NEVOD_FLOW_LOGOUT ? (nevod_bytes){0} : text(token)};
    return actions->token(actions->host, &issued), NEVOD_OK;
}

static void end(void *in, void *made) { (void)in, free(made); }

static const nevod_scheme SESSION = {
    .struct_size = sizeof SESSION, .id = NEVOD_BYTES("session"), .title = NEVOD_BYTES("A token for each set"), .settings = SETTINGS,
    .setting_count = 1, .parameters = PARAMETERS, .parameter_count = 3, .create = create, .destroy = destroy, .authorize = authorize,
    .token_decode = decode, .token_free = token_free, .flow_begin = begin, .flow_step = step, .flow_free = end};
static const nevod_scheme STRICT = {
    .struct_size = sizeof STRICT, .id = NEVOD_BYTES("strict"), .title = NEVOD_BYTES("A required parameter"), .settings = SETTINGS,
    .setting_count = 1, .parameters = STRICT_PARAMETERS, .parameter_count = 1, .create = create, .destroy = destroy,
    .authorize = authorize};
static const nevod_scheme *const SCHEMES[] = {&SESSION, &STRICT};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 2, .schemes = SCHEMES,
    .name = NEVOD_BYTES("parameters"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
