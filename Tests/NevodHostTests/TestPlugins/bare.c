// A scheme with flows and without `token_decode`. Its functions get the stored bytes.
#include <stdio.h>
#include <string.h>
#include "nevod_plugin.h"

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)host, (void)values, (void)count, (void)errors;
    *out = NULL;
    return NEVOD_OK;
}

static void destroy(void *in) { (void)in; }

static const nevod_needs *needs(void *in) {
    static const nevod_needs NEEDS = {
        .struct_size = sizeof NEEDS, .flags = NEVOD_NEED_STATE | NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES};
    (void)in;
    return &NEEDS;
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)in, (void)errors;
    const nevod_token *stored = token;
    char expiry[32];
    if (!stored) return NEVOD_OK;
    snprintf(expiry, sizeof expiry, "%lld %d %d", (long long)stored->expires_at_unix_ns,
             stored->struct_size == sizeof *stored, (int)stored->reserved);
    edits->set_header(edits->host, text("X-Token"), stored->bytes);
    edits->set_header(edits->host, text("X-Account"), stored->account);
    edits->set_header(edits->host, text("X-Expiry"), text(expiry));
    if (view->state.count) edits->set_header(edits->host, text("X-Seen"), view->state);
    return NEVOD_OK;
}

// Remembers the token that the request carried.
static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)in, (void)request, (void)response, (void)errors;
    actions->set_state(actions->host, token ? ((const nevod_token *)token)->bytes : text("none"));
    return NEVOD_VERDICT_STATE_CHANGED;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors) {
    static int32_t kinds[] = {0, NEVOD_FLOW_LOGIN, NEVOD_FLOW_REFRESH};
    (void)in, (void)errors;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH) return NEVOD_UNSUPPORTED;
    *out = &kinds[kind];
    return NEVOD_OK;
}

static int32_t step(void *in, void *flow, const nevod_event *event, const nevod_actions *to, const nevod_errors *errors) {
    (void)in, (void)flow, (void)errors;
    char bytes[64] = "t";
    nevod_token issued = {
        .struct_size = sizeof issued, .expires_at_unix_ns = 4102444800000000000ll, .account = event->token ? NOTHING : text("ada")};
    if (event->token) snprintf(bytes, sizeof bytes, "%.*s+", (int)event->token->bytes.count, (const char *)event->token->bytes.data);
    issued.bytes = text(bytes);
    return to->token(to->host, &issued);
}

static void end(void *in, void *flow) { (void)in, (void)flow; }

static const nevod_scheme SCHEME = {
    .struct_size = sizeof SCHEME, .id = NEVOD_BYTES("bare"), .title = NEVOD_BYTES("Stored bytes"), .create = create,
    .destroy = destroy, .needs = needs, .authorize = authorize, .on_response = on_response, .flow_begin = begin, .flow_step = step,
    .flow_free = end};
static const nevod_scheme *const SCHEMES[] = {&SCHEME};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1, .schemes = SCHEMES,
    .name = NEVOD_BYTES("bare"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
