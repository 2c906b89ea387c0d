// Tables and values as large as its macros say, to test each limit at its edge.
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

#ifndef SCHEMES
#define SCHEMES 1
#endif
#ifndef SETTINGS
#define SETTINGS 1
#endif
#ifndef NAME
#define NAME 4
#endif
#ifndef TEXT
#define TEXT 4
#endif
#ifndef DIGESTS
#define DIGESTS 1
#endif
#ifndef MESSAGE
#define MESSAGE 4
#endif
#ifndef DETAIL
#define DETAIL 4
#endif
#ifndef STATE
#define STATE 1
#endif
#ifndef TOKEN
#define TOKEN 1
#endif
#ifndef ACCOUNT
#define ACCOUNT 1
#endif

static uint8_t FILLED[1 << 20];
static nevod_bytes filled(uint64_t count) { return (nevod_bytes){FILLED, count}; }

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)count, (void)values;
    host->log(host->host, NEVOD_LOG_INFO, filled(MESSAGE));
    errors->report(errors->host, filled(MESSAGE), filled(MESSAGE), filled(DETAIL));
    *out = NULL;
    return MESSAGE == 4 && DETAIL == 4 ? NEVOD_OK : NEVOD_UNAVAILABLE;
}

static void destroy(void *in) { (void)in; }

static const nevod_needs *needs(void *in) {
    (void)in;
    static nevod_bytes names[DIGESTS];
    for (int i = 0; i < DIGESTS; i++) names[i] = (nevod_bytes)NEVOD_BYTES("sha-256");
    static nevod_needs NEEDS = {.struct_size = sizeof NEEDS, .flags = NEVOD_NEED_STATE, .digests = names, .digest_count = DIGESTS};
    return &NEEDS;
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)in, (void)token, (void)view, (void)edits, (void)errors;
    return NEVOD_OK;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors) {
    (void)in, (void)errors;
    *out = NULL;
    return kind == NEVOD_FLOW_LOGIN ? NEVOD_OK : NEVOD_UNSUPPORTED;
}

static int32_t step(void *in, void *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    (void)in, (void)flow, (void)event, (void)errors;
    nevod_token token = {.struct_size = sizeof token, .bytes = filled(TOKEN), .account = filled(ACCOUNT)};
    actions->set_state(actions->host, filled(STATE));
    actions->token(actions->host, &token);
    return NEVOD_OK;
}

static void end(void *in, void *flow) { (void)in, (void)flow; }

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) {
    static nevod_setting settings[SETTINGS];
    static const nevod_setting *setting_list[SETTINGS];
    static nevod_scheme schemes[SCHEMES];
    static const nevod_scheme *scheme_list[SCHEMES];
    static uint8_t names[SETTINGS > SCHEMES ? SETTINGS : SCHEMES][NAME];
    static nevod_plugin plugin;
    memset(FILLED, 'a', sizeof FILLED);
    for (size_t i = 0; i < sizeof names / NAME; i++) {
        memset(names[i], 'a', NAME);
        for (size_t digit = 0, rest = i; digit < 3; digit++, rest /= 26) names[i][digit] = (uint8_t)('a' + rest % 26);
    }
    for (size_t i = 0; i < SETTINGS; i++) {
        settings[i] = (nevod_setting){
            .struct_size = sizeof settings[i], .kind = NEVOD_SETTING_TEXT, .name = {names[i], NAME}, .help = filled(TEXT)};
        setting_list[i] = &settings[i];
    }
    for (size_t i = 0; i < SCHEMES; i++) {
        schemes[i] = (nevod_scheme){
            .struct_size = sizeof schemes[i], .id = {names[i], NAME}, .title = filled(TEXT), .settings = setting_list,
            .setting_count = SETTINGS, .parameters = setting_list, .parameter_count = SETTINGS, .create = create,
            .destroy = destroy, .needs = needs, .authorize = authorize, .flow_begin = begin, .flow_step = step, .flow_free = end};
        scheme_list[i] = &schemes[i];
    }
    plugin = (nevod_plugin){
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = SCHEMES,
        .schemes = scheme_list, .name = NEVOD_BYTES("limits"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};
    return &plugin;
}
