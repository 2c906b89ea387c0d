// Schemes that handle a response as its header lines say: X-Verdict names the verdict, X-State a new state, X-Keep a new token,
// X-Report a report, and X-Digests the expected digests of the body. The letters of the setting "needs" choose the needs. "plain"
// and "blocking", which declares that it blocks, have no flows. The tokens of "flows" are numbered. Each call's input is logged.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }
static int is(nevod_bytes bytes, const char *s) { return bytes.count == strlen(s) && !memcmp(bytes.data, s, bytes.count); }

typedef struct {
    const nevod_host *host;
    atomic_int tokens;
    nevod_needs needs;
    int32_t statuses[20];
    nevod_bytes types[20];
    char names[20][300];
} instance;

static const nevod_bytes DIGESTS[] = {NEVOD_BYTES("sha-512"), NEVOD_BYTES("sha-256"), NEVOD_BYTES("sha-384")};
static const nevod_bytes UNKNOWN[] = {NEVOD_BYTES("sha-1")};

static const nevod_setting NEEDS = {.struct_size = sizeof NEEDS, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("needs")};
static const nevod_setting STATUS = {
    .struct_size = sizeof STATUS, .kind = NEVOD_SETTING_INTEGER, .flags = NEVOD_SETTING_REPEATABLE, .name = NEVOD_BYTES("status")};
static const nevod_setting TYPE = {
    .struct_size = sizeof TYPE, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REPEATABLE, .name = NEVOD_BYTES("type")};
static const nevod_setting *const SETTINGS[] = {&NEEDS, &STATUS, &TYPE};
static const nevod_setting SCOPE = {.struct_size = sizeof SCOPE, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("scope")};
static const nevod_setting *const PARAMETERS[] = {&SCOPE};

static void choose(instance *in, char letter) {
    switch (letter) {
    case 'c': in->needs.flags |= NEVOD_NEED_CHALLENGES; break;
    case 'o': in->needs.flags |= NEVOD_NEED_OTHER_RESPONSES; break;
    case 'b': in->needs.flags |= NEVOD_NEED_CHALLENGE_BODY; break;
    case 's': in->needs.flags |= NEVOD_NEED_STATE; break;
    case 'd': in->needs.response_digests = DIGESTS, in->needs.response_digest_count = 3; break;
    case 'u': in->needs.response_digests = UNKNOWN, in->needs.response_digest_count = 1; break;
    case 'n': in->needs.response_digest_count = 1; break;
    case 'm': in->needs.response_digests = DIGESTS, in->needs.response_digest_count = 17; break;
    }
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    in->host = host;
    in->needs.struct_size = sizeof in->needs;
    in->needs.challenge_statuses = in->statuses;
    in->needs.challenge_types = in->types;
    for (uint32_t i = 0; i < count; i++) {
        if (is(values[i].name, "needs")) {
            for (uint64_t at = 0; at < values[i].value.count; at++) choose(in, (char)values[i].value.data[at]);
        } else if (is(values[i].name, "type")) {
            uint32_t at = in->needs.challenge_type_count;
            if (at == 20 || values[i].value.count >= sizeof in->names[0]) continue;
            memcpy(in->names[at], values[i].value.data, values[i].value.count);
            in->types[at] = text(in->names[at]);
            in->needs.challenge_type_count++;
        } else if (in->needs.challenge_status_count < 20) {
            char number[24] = {0};
            memcpy(number, values[i].value.data, values[i].value.count < 23 ? values[i].value.count : 23);
            in->statuses[in->needs.challenge_status_count++] = atoi(number);
        }
    }
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in) { free(in); }

static const nevod_needs *needs(void *in) { return &((instance *)in)->needs; }

static int32_t token_decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors) {
    (void)in, (void)errors;
    char *copied = calloc(1, bytes.count + 1);
    if (!copied) return NEVOD_INTERNAL;
    memcpy(copied, bytes.data, bytes.count);
    *token = copied;
    return NEVOD_OK;
}

static void token_free(void *in, void *token) {
    (void)in;
    free(token);
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)in, (void)errors;
    edits->set_header(edits->host, text("X-Token"), text(token ? token : "none"));
    if (view->state.count) edits->set_header(edits->host, text("X-State"), view->state);
    return NEVOD_OK;
}

static nevod_bytes header(const nevod_response *response, const char *name) {
    for (uint32_t i = 0; i < response->header_count; i++)
        if (is(response->headers[i].name, name)) return response->headers[i].value;
    return NOTHING;
}

static void note(void *made, const char *call, const nevod_response *response) {
    char line[160];
    int count = snprintf(
        line, sizeof line, "%s %d: %llu bytes%s, %u digests, \"", call, response->status, (unsigned long long)response->body.count,
        response->flags & NEVOD_RESPONSE_CUT ? ", cut" : "", response->digest_count);
    for (uint64_t i = 0; i < response->body.count && i < 8; i++) count += snprintf(line + count, 2, "%c", response->body.data[i]);
    snprintf(line + count, 2, "\"");
    instance *in = made;
    in->host->log(in->host->host, NEVOD_LOG_INFO, text(line));
}

/* Whether the digests match X-Digests: "sha-256=hex sha-384=hex sha-512=hex", in the order of the needs. */
static int has_expected_digests(const nevod_response *response, nevod_bytes expected) {
    char found[600] = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < response->digest_count; i++) {
        const nevod_pair *digest = &response->digests[i];
        count += (size_t)snprintf(
            found + count, sizeof found - count, "%s%.*s=", i ? " " : "", (int)digest->name.count, (const char *)digest->name.data);
        for (uint64_t at = 0; at < digest->value.count; at++)
            count += (size_t)snprintf(found + count, sizeof found - count, "%02x", digest->value.data[at]);
    }
    return is(expected, response->digest_count ? found : "none");
}

static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token, (void)request;
    note(in, "on_response", response);
    nevod_bytes verdict = header(response, "X-Verdict"), digests = header(response, "X-Digests");
    nevod_bytes state = header(response, "X-State"), next = header(response, "X-Keep"), report = header(response, "X-Report");
    if (state.count) actions->set_state(actions->host, state);
    if (next.count) {
        nevod_token kept = {.struct_size = sizeof kept, .bytes = next};
        actions->keep(actions->host, &kept);
    }
    if (report.count) errors->report(errors->host, text("X-Signature"), report, text("sensitive"));
    if (digests.count && !has_expected_digests(response, digests)) {
        errors->report(errors->host, text("X-Digests"), text("doesn't match the body"), NOTHING);
        return NEVOD_VERDICT_REFUSE;
    }
    if (is(verdict, "changed")) return NEVOD_VERDICT_STATE_CHANGED;
    if (is(verdict, "retry")) return NEVOD_VERDICT_RETRY_ONCE;
    if (is(verdict, "challenge")) return NEVOD_VERDICT_CHALLENGE;
    if (is(verdict, "refuse")) return NEVOD_VERDICT_REFUSE;
    if (is(verdict, "unknown")) return 99;
    return NEVOD_VERDICT_NOTHING;
}

static int32_t begin(void *in, int32_t kind, void **flow, const nevod_errors *errors) {
    (void)in, (void)errors;
    *flow = NULL;
    return kind == NEVOD_FLOW_LOGIN || kind == NEVOD_FLOW_CHALLENGE ? NEVOD_OK : NEVOD_UNSUPPORTED;
}

static int32_t step(void *made, void *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    (void)flow, (void)errors;
    instance *in = made;
    char bytes[16];
    if (event->response) note(in, "challenge", event->response);
    snprintf(bytes, sizeof bytes, "%s%d", event->response ? "challenge" : "login", ++in->tokens);
    nevod_token token = {.struct_size = sizeof token, .bytes = text(bytes)};
    actions->token(actions->host, &token);
    return NEVOD_OK;
}

static void end(void *in, void *flow) { (void)in, (void)flow; }

#define COMMON \
    .struct_size = sizeof(nevod_scheme), .title = NEVOD_BYTES("Responses for tests"), .settings = SETTINGS, .setting_count = 3, \
    .create = create, .destroy = destroy, .needs = needs, .authorize = authorize, .on_response = on_response
static const nevod_scheme PLAIN = {COMMON, .id = NEVOD_BYTES("plain")};
static const nevod_scheme FLOWS = {
    COMMON, .id = NEVOD_BYTES("flows"), .parameters = PARAMETERS, .parameter_count = 1, .token_decode = token_decode, .token_free = token_free, .flow_begin = begin,
    .flow_step = step, .flow_free = end};
static const nevod_scheme BLOCKING = {COMMON, .id = NEVOD_BYTES("blocking"), .flags = NEVOD_SCHEME_BLOCKS};
static const nevod_scheme *const SCHEMES[] = {&PLAIN, &FLOWS, &BLOCKING};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 3, .schemes = SCHEMES,
    .name = NEVOD_BYTES("response"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
