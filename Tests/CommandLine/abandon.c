/* Runs flows of a plugin and abandons them at every point, for test_languages.py: abandon LIBRARY MODE COUNT. Then prints the
 * header that the first scheme sets. */
#include "nevod_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int actions_seen;
static char header[256];

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{
    (void)host, (void)subject, (void)message, (void)detail;
}
static void log_line(void *host, int32_t level, nevod_bytes message) { (void)host, (void)level, (void)message; }
static const void *no_extension(void *host, nevod_bytes name) { return (void)host, (void)name, NULL; }
static int32_t acted(void) { return actions_seen++, NEVOD_OK; }
static int32_t send_action(void *host, const nevod_flow_request *request) { return (void)host, (void)request, acted(); }
static int32_t ask(void *host, const nevod_question *const *questions, uint32_t count)
{
    return (void)host, (void)questions, (void)count, acted();
}
static int32_t show(void *host, nevod_bytes text, nevod_bytes url) { return (void)host, (void)text, (void)url, acted(); }
static int32_t listen_action(void *host, const nevod_listen *options) { return (void)host, (void)options, acted(); }
static int32_t browse(void *host, nevod_bytes url) { return (void)host, (void)url, acted(); }
static int32_t wait_action(void *host, uint64_t nanoseconds) { return (void)host, (void)nanoseconds, acted(); }
static int32_t token(void *host, const nevod_token *token) { return (void)host, (void)token, acted(); }
static int32_t set_state(void *host, nevod_bytes state) { return (void)host, (void)state, NEVOD_OK; }
static int32_t edit(void *host, nevod_bytes name, nevod_bytes value)
{
    (void)host, (void)name;
    snprintf(header, sizeof header, "%.*s", (int)value.count, (const char *)value.data);
    return NEVOD_OK;
}
static int32_t body(void *host, nevod_bytes bytes) { return (void)host, (void)bytes, NEVOD_OK; }
static int32_t wrap(void *host, uint64_t length, void *wrapping) { return (void)host, (void)length, (void)wrapping, NEVOD_OK; }

static const nevod_errors errors = {.struct_size = sizeof errors, .report = report};
static const nevod_host host = {.struct_size = sizeof host, .log = log_line, .get_extension = no_extension};
static const nevod_edits edits = {.struct_size = sizeof edits, .set_header = edit, .add_header = edit, .add_query = edit,
                                  .add_cookie = edit, .replace_body = body, .wrap_body = wrap};
static const nevod_actions actions = {
    .struct_size = sizeof actions, .send = send_action, .ask = ask, .show = show, .listen = listen_action, .browse = browse,
    .wait = wait_action, .keep = token, .token = token, .set_state = set_state};

int main(int count, char **arguments)
{
    void *library = count == 4 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const nevod_plugin *(*entry)(void) = NULL;
    if (library == NULL)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    *(void **)&entry = dlsym(library, "nevod_plugin_v1");
    const nevod_plugin *plugin = entry();
    const nevod_scheme *first = plugin->schemes[0], *scheme = plugin->schemes[plugin->scheme_count - 1];
    const nevod_pair mode = {NEVOD_BYTES("mode"), {(const uint8_t *)arguments[2], strlen(arguments[2])}};
    static const uint8_t random[32] = {1, 2, 3};
    void *instance = NULL, *other = NULL;
    if (scheme->create(scheme, &host, &mode, 1, &instance, &errors) != NEVOD_OK)
        return fprintf(stderr, "create failed\n"), 1;
    for (int i = 0; i < atoi(arguments[3]); i++) {
        static const int32_t kinds[] = {NEVOD_EVENT_START, NEVOD_EVENT_CANCELLED};
        void *flow = NULL;
        if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow, &errors) != NEVOD_OK)
            return fprintf(stderr, "flow_begin failed\n"), 1;
        for (int step = 0; step < i % 3; step++) { /* not begun, waiting, cancelled */
            const nevod_event event = {
                .struct_size = sizeof event, .kind = kinds[step], .unix_time_ns = 1, .random = {random, sizeof random}};
            int before = actions_seen;
            int32_t status = scheme->flow_step(instance, flow, &event, &actions, &errors);
            if (step == 0 && (status != NEVOD_OK || actions_seen != before + 1))
                return fprintf(stderr, "status %d with %d actions\n", status, actions_seen - before), 1;
        }
        scheme->flow_free(instance, flow);
    }
    const nevod_view view = {
        .struct_size = sizeof view, .method = NEVOD_BYTES("GET"), .scheme = NEVOD_BYTES("http"), .authority = NEVOD_BYTES("localhost"),
        .target = NEVOD_BYTES("/"), .attempt = 1};
    if (first->create(first, &host, &mode, 1, &other, &errors) != NEVOD_OK || first->authorize(other, NULL, &view, &edits, &errors) != NEVOD_OK)
        return fprintf(stderr, "authorize failed\n"), 1;
    first->destroy(other);
    scheme->destroy(instance);
    printf("%s\n", header);
    return 0;
}
