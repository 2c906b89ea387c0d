// Keeps its sinks, and uses them when they are no longer valid. A request's target says what a call does. Each use of a kept sink
// is logged with its result.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

typedef struct {
    const nevod_host *host;
    const nevod_edits *edits;
    const nevod_errors *errors;
    const nevod_actions *actions;
    nevod_edits edits_copy;
    nevod_errors errors_copy;
    nevod_actions actions_copy;
    sem_t release;
} instance;

static void note(instance *in, const char *line) { in->host->log(in->host->host, NEVOD_LOG_INFO, text(line)); }

static void result(instance *in, const char *place, const char *sink, int32_t status) {
    char line[128];
    snprintf(line, sizeof line, "%s %s %d", place, sink, status);
    note(in, line);
}

static void use_edits(instance *in, const char *place, const char *name, const nevod_edits *to) {
    result(in, place, name, to->set_header(to->host, text("X-Stolen"), text("1")));
    // Larger than any block that the host reserves.
    char *large = malloc(60000);
    memset(large, 'x', 60000);
    result(in, place, name, to->add_header(to->host, text("X-Stolen"), (nevod_bytes){(uint8_t *)large, 60000}));
    free(large);
    result(in, place, name, to->add_query(to->host, text("stolen"), text("1")));
    result(in, place, name, to->add_cookie(to->host, text("stolen"), text("1")));
}

static void use_actions(instance *in, const char *place, const char *name, const nevod_actions *to) {
    nevod_token token = {.struct_size = sizeof token, .bytes = text("stolen")};
    result(in, place, name, to->set_state(to->host, text("stolen")));
    result(in, place, name, to->keep(to->host, &token));
    result(in, place, name, to->token(to->host, &token));
    result(in, place, name, to->wait(to->host, 1));
}

static void use(instance *in, const char *place) {
    if (in->edits) {
        use_edits(in, place, "edits", in->edits);
        use_edits(in, place, "copied edits", &in->edits_copy);
    }
    if (in->actions) {
        use_actions(in, place, "actions", in->actions);
        use_actions(in, place, "copied actions", &in->actions_copy);
    }
    if (in->errors) {
        in->errors->report(in->errors->host, NOTHING, text("stolen"), text("stolen"));
        in->errors_copy.report(in->errors_copy.host, NOTHING, text("stolen"), text("stolen"));
    }
}

static void *use_on_thread(void *in) {
    use(in, "thread");
    return NULL;
}

static void keep(instance *in, const nevod_edits *edits, const nevod_errors *errors, const nevod_actions *actions) {
    if (edits) in->edits_copy = *(in->edits = edits);
    if (errors) in->errors_copy = *(in->errors = errors);
    if (actions) in->actions_copy = *(in->actions = actions);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)values, (void)count;
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    in->host = host;
    sem_init(&in->release, 0, 0);
    keep(in, NULL, errors, NULL);
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *made) {
    instance *in = made;
    use(in, "destroy");
    sem_destroy(&in->release);
    free(in);
}

static const nevod_needs *needs(void *in) {
    (void)in;
    static const nevod_needs NEEDS = {.struct_size = sizeof NEEDS, .flags = NEVOD_NEED_STATE | NEVOD_NEED_OTHER_RESPONSES};
    return &NEEDS;
}

static int32_t authorize(void *made, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    instance *in = made;
    char target[32] = {0};
    memcpy(target, view->target.data, view->target.count < 31 ? view->target.count : 31);
    if (!strcmp(target, "/keep")) keep(in, edits, errors, NULL);
    if (!strcmp(target, "/use")) use(in, "authorize");
    if (!strcmp(target, "/fail")) {
        use(in, "authorize");
        return NEVOD_DENIED;
    }
    if (!strcmp(target, "/thread")) {
        pthread_t thread;
        keep(in, edits, errors, NULL);
        if (pthread_create(&thread, NULL, use_on_thread, in) != 0) return NEVOD_INTERNAL;
        pthread_join(thread, NULL);
    }
    if (!strcmp(target, "/wait")) {
        keep(in, edits, errors, NULL);
        note(in, "waiting");
        sem_wait(&in->release);
    }
    if (!strcmp(target, "/release")) sem_post(&in->release);
    if (!strcmp(target, "/nest")) note(in, "nest");
    edits->set_header(edits->host, text("X-Own"), view->state.count ? view->state : text("1"));
    return NEVOD_OK;
}

static int32_t on_response(void *made, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token, (void)request, (void)response;
    use(made, "on_response");
    keep(made, NULL, errors, actions);
    actions->set_state(actions->host, text("own"));
    return NEVOD_VERDICT_STATE_CHANGED;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors) {
    (void)in, (void)kind, (void)errors;
    *out = NULL;
    return NEVOD_OK;
}

static int32_t step(void *made, void *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    (void)flow;
    if (event->kind == NEVOD_EVENT_START) {
        keep(made, NULL, errors, actions);
        return actions->wait(actions->host, 1);
    }
    use(made, "flow_step");
    nevod_token token = {.struct_size = sizeof token, .bytes = text("own")};
    return actions->token(actions->host, &token);
}

static void end(void *in, void *flow) { (void)flow, use(in, "flow_free"); }

static const nevod_scheme SCHEME = {
    .struct_size = sizeof SCHEME, .id = NEVOD_BYTES("keeper"), .title = NEVOD_BYTES("Keeps its sinks"), .create = create,
    .destroy = destroy, .needs = needs, .authorize = authorize, .on_response = on_response, .flow_begin = begin, .flow_step = step,
    .flow_free = end};
static const nevod_scheme *const SCHEMES[] = {&SCHEME};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1, .schemes = SCHEMES,
    .name = NEVOD_BYTES("keeper"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
