// Two schemes, one with NEVOD_SCHEME_BLOCKS and one without. The function named by "in" waits for a byte from the pipe "gate". Each
// waiting call logs "enter FUNCTION CALLS THREAD", where CALLS is the number of waiting calls, and afterwards "leave FUNCTION".
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nevod_plugin.h"

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

typedef struct {
    const nevod_host *host;
    char in[32];
    int gate;
    atomic_int waiting;
} instance;

static const nevod_setting IN = {
    .struct_size = sizeof IN, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("in"), .default_value = NEVOD_BYTES("authorize")};
static const nevod_setting GATE = {
    .struct_size = sizeof GATE, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REQUIRED, .name = NEVOD_BYTES("gate")};
static const nevod_setting *const SETTINGS[] = {&IN, &GATE};

static void pass(instance *in, const char *function) {
    char line[128], byte;
    if (strcmp(in->in, function) != 0) return;
    snprintf(line, sizeof line, "enter %s %d %d", function, atomic_fetch_add(&in->waiting, 1) + 1, (int)gettid());
    in->host->log(in->host->host, NEVOD_LOG_INFO, text(line));
    while (read(in->gate, &byte, 1) != 1) { }
    atomic_fetch_sub(&in->waiting, 1);
    snprintf(line, sizeof line, "leave %s", function);
    in->host->log(in->host->host, NEVOD_LOG_INFO, text(line));
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)errors;
    char path[256] = {0};
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    in->host = host;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].name.count == 2) memcpy(in->in, values[i].value.data, values[i].value.count);
        else memcpy(path, values[i].value.data, values[i].value.count);
    }
    in->gate = open(path, O_RDONLY | O_CLOEXEC);
    if (in->gate < 0) return free(in), NEVOD_BAD_SETTINGS;
    pass(in, "create");
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *made) {
    instance *in = made;
    close(in->gate);
    in->host->log(in->host->host, NEVOD_LOG_INFO, text("destroy"));
    free(in);
}

static const nevod_needs *needs(void *in) {
    static const nevod_needs NEEDS = {
        .struct_size = sizeof NEEDS, .flags = NEVOD_NEED_STATE | NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES};
    static const nevod_needs WRAPS = {.struct_size = sizeof WRAPS, .flags = NEVOD_NEED_STATE | NEVOD_NEED_REPLACE_BODY};
    return strcmp(((instance *)in)->in, "body_piece") ? &NEEDS : &WRAPS;
}

static int32_t token_decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors) {
    (void)errors;
    pass(in, "token_decode");
    char *copied = calloc(1, bytes.count + 1);
    if (!copied) return NEVOD_INTERNAL;
    memcpy(copied, bytes.data, bytes.count);
    *token = copied;
    return NEVOD_OK;
}

static void token_free(void *made, void *token) {
    instance *in = made;
    in->host->log(in->host->host, NEVOD_LOG_INFO, text("token_free"));
    free(token);
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)errors;
    char thread[16];
    pass(in, "authorize");
    snprintf(thread, sizeof thread, "%d", (int)gettid());
    edits->set_header(edits->host, text("X-Thread"), text(thread));
    edits->set_header(edits->host, text("X-Token"), text(token ? token : "none"));
    if (view->body_length && !strcmp(((instance *)in)->in, "body_piece")) edits->wrap_body(edits->host, view->body_length, NULL);
    edits->set_header(edits->host, text("X-State"), view->state.count ? view->state : text("none"));
    return NEVOD_OK;
}

static int32_t body_piece(void *in, void *wrapping, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                          const nevod_errors *errors) {
    (void)wrapping, (void)is_last, (void)errors;
    if (piece.count) pass(in, "body_piece");
    return output->write(output->host, piece);
}

static void body_free(void *in, void *wrapping) { (void)in, (void)wrapping; }

static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token, (void)request, (void)response, (void)errors;
    nevod_token next = {.struct_size = sizeof next, .bytes = text("kept")};
    pass(in, "on_response");
    actions->set_state(actions->host, text("seen"));
    actions->keep(actions->host, &next);
    return NEVOD_VERDICT_NOTHING;
}

static int32_t begin(void *in, int32_t kind, void **flow, const nevod_errors *errors) {
    (void)kind, (void)errors;
    pass(in, "flow_begin");
    *flow = NULL;
    return NEVOD_OK;
}

static int32_t step(void *in, void *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    (void)flow, (void)event, (void)errors;
    nevod_token token = {.struct_size = sizeof token, .bytes = text("issued")};
    pass(in, "flow_step");
    return actions->token(actions->host, &token);
}

static void end(void *made, void *flow) {
    (void)flow;
    instance *in = made;
    in->host->log(in->host->host, NEVOD_LOG_INFO, text("flow_free"));
}

#define SCHEME(name, bits) \
    {.struct_size = sizeof(nevod_scheme), .flags = bits, .id = NEVOD_BYTES(name), .title = NEVOD_BYTES(name), .settings = SETTINGS, \
     .setting_count = 2, .create = create, .destroy = destroy, .needs = needs, .token_decode = token_decode, \
     .token_free = token_free, .authorize = authorize, .on_response = on_response, .flow_begin = begin, .flow_step = step, \
     .flow_free = end, .body_piece = body_piece, .body_free = body_free}
static const nevod_scheme BLOCKS = SCHEME("blocks", NEVOD_SCHEME_BLOCKS), STALLS = SCHEME("stalls", 0);
static const nevod_scheme *const SCHEMES[] = {&BLOCKS, &STALLS};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 2, .schemes = SCHEMES,
    .name = NEVOD_BYTES("slow"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return (void)NOTHING, &PLUGIN; }
