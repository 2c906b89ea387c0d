/* Shows a plugin the responses of a newer host, for test_languages.py: unknown LIBRARY SETTING VALUE. For each response, prints the
 * result of the last scheme's `on_response`, and the status of a flow's first step. */
#include "nevod_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int states;

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{
    (void)host, (void)subject, (void)message, (void)detail;
}
static void log_line(void *host, int32_t level, nevod_bytes message) { (void)host, (void)level, (void)message; }
static const void *no_extension(void *host, nevod_bytes name) { return (void)host, (void)name, NULL; }
static int32_t send_action(void *host, const nevod_flow_request *request) { return (void)host, (void)request, NEVOD_OK; }
static int32_t ask(void *host, const nevod_question *const *questions, uint32_t count)
{
    return (void)host, (void)questions, (void)count, NEVOD_OK;
}
static int32_t show(void *host, nevod_bytes text, nevod_bytes url) { return (void)host, (void)text, (void)url, NEVOD_OK; }
static int32_t listen_action(void *host, const nevod_listen *options) { return (void)host, (void)options, NEVOD_OK; }
static int32_t browse(void *host, nevod_bytes url) { return (void)host, (void)url, NEVOD_UNSUPPORTED; }
static int32_t wait_action(void *host, uint64_t nanoseconds) { return (void)host, (void)nanoseconds, NEVOD_OK; }
static int32_t token(void *host, const nevod_token *token) { return (void)host, (void)token, NEVOD_OK; }
static int32_t set_state(void *host, nevod_bytes state) { return (void)host, (void)state, states++, NEVOD_OK; }

static const nevod_errors errors = {.struct_size = sizeof errors, .report = report};
static const nevod_host host = {.struct_size = sizeof host, .log = log_line, .get_extension = no_extension};
static const nevod_actions actions = {
    .struct_size = sizeof actions, .send = send_action, .ask = ask, .show = show, .listen = listen_action, .browse = browse,
    .wait = wait_action, .keep = token, .token = token, .set_state = set_state};

int main(int count, char **arguments)
{
    static const struct { const char *name; int32_t target; uint32_t flags; } cases[] = {
        {"target", NEVOD_TARGET_PROXY + 1, 0}, {"flag", NEVOD_TARGET_ORIGIN, 1u << 15}, {"ignorable", NEVOD_TARGET_ORIGIN, 1u << 30}};
    static const uint8_t random[32] = {1, 2, 3};
    void *library = count == 4 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    const nevod_plugin *(*entry)(void) = NULL;
    *(void **)&entry = dlsym(library, "nevod_plugin_v1");
    const nevod_plugin *plugin = entry();
    const nevod_scheme *scheme = plugin->schemes[plugin->scheme_count - 1];
    nevod_pair settings[NEVOD_LIMIT_SETTINGS] = {
        {{(const uint8_t *)arguments[2], strlen(arguments[2])}, {(const uint8_t *)arguments[3], strlen(arguments[3])}}};
    uint32_t given = 1;
    for (uint32_t i = 0; i < scheme->setting_count; i++)
        if (scheme->settings[i]->default_value.count > 0)
            settings[given++] = (nevod_pair){scheme->settings[i]->name, scheme->settings[i]->default_value};
    const nevod_pair header = {NEVOD_BYTES("WWW-Authenticate"), NEVOD_BYTES("Probe nonce=\"1\"")};
    void *instance = NULL;
    if (scheme->create(scheme, &host, settings, given, &instance, &errors) != NEVOD_OK)
        return fprintf(stderr, "create failed\n"), 1;
    const nevod_view view = {
        .struct_size = sizeof view, .method = NEVOD_BYTES("GET"), .scheme = NEVOD_BYTES("http"), .authority = NEVOD_BYTES("localhost"),
        .target = NEVOD_BYTES("/"), .attempt = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const nevod_response response = {
            .struct_size = sizeof response, .status = 418, .target_kind = cases[i].target, .flags = cases[i].flags,
            .header_count = 1, .headers = &header};
        const nevod_event event = {
            .struct_size = sizeof event, .kind = NEVOD_EVENT_START, .unix_time_ns = 1, .random = {random, sizeof random},
            .response = &response};
        states = 0;
        int32_t verdict = NEVOD_VERDICT_NOTHING;
        if (scheme->on_response != NULL)
            verdict = scheme->on_response(instance, NULL, &view, &response, &actions, &errors);
        void *flow = NULL;
        if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow, &errors) != NEVOD_OK)
            return fprintf(stderr, "flow_begin failed\n"), 1;
        int32_t status = scheme->flow_step(instance, flow, &event, &actions, &errors);
        scheme->flow_free(instance, flow);
        printf("%s: %s, %s\n", cases[i].name, verdict == NEVOD_VERDICT_NOTHING && states == 0 ? "nothing" : "seen",
               status == NEVOD_UNSUPPORTED ? "unsupported" : status == NEVOD_OK ? "ok" : "failed");
    }
    scheme->destroy(instance);
    return 0;
}
