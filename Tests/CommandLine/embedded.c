/* A host in C, without any Swift, for the tests of plugins that need no runtime.
 *
 *   embedded sign PLUGIN NAME=VALUE…            signs a GET request at a fixed time, and prints the headers that the plugin sets
 *   embedded flows PLUGIN THREADS FLOWS         runs FLOWS logins of libFlowProbe.so on each thread, and prints the memory's growth
 *   embedded free PLUGIN                        frees logins while another's step is blocked, and prints the memory's growth
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nevod_plugin.h"

#define TIME 1700000000000000000ll

static const nevod_scheme *scheme;
static void *instance;

static nevod_bytes bytes(const char *text) { return (nevod_bytes){(const uint8_t *)text, strlen(text)}; }

static void fail(const char *what) {
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail) {
    (void)host;
    fprintf(stderr, "%.*s: %.*s (%.*s)\n", (int)subject.count, (const char *)subject.data, (int)message.count,
            (const char *)message.data, (int)detail.count, (const char *)detail.data);
}
static void no_report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail) {
    (void)host, (void)subject, (void)message, (void)detail;
}
static nevod_errors errors = {sizeof(nevod_errors), 0, NULL, report};

static void no_log(void *host, int32_t level, nevod_bytes message) {
    (void)host;
    (void)level;
    (void)message;
}
static const void *no_extension(void *host, nevod_bytes name) {
    (void)host;
    (void)name;
    return NULL;
}

static void load(const char *path, char **settings, int count) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail(dlerror());
    const nevod_plugin *(*entry)(void) = (const nevod_plugin *(*)(void))dlsym(library, "nevod_plugin_v1");
    if (entry == NULL) fail("no nevod_plugin_v1");
    scheme = entry()->schemes[0];
    nevod_host host = {sizeof host, 0, NULL, bytes("test"), bytes("1"), no_log, no_extension};
    nevod_pair *values = calloc((size_t)scheme->setting_count + (size_t)count, sizeof *values);
    uint32_t given = 0;
    for (int index = 0; index < count; index++) {
        char *equals = strchr(settings[index], '=');
        *equals = '\0';
        values[given++] = (nevod_pair){bytes(settings[index]), bytes(equals + 1)};
    }
    for (uint32_t index = 0; index < scheme->setting_count; index++) {
        const nevod_setting *setting = scheme->settings[index];
        int is_given = 0;
        for (int other = 0; other < count; other++)
            is_given |= setting->name.count == strlen(settings[other])
                        && memcmp(setting->name.data, settings[other], setting->name.count) == 0;
        if (!is_given && setting->default_value.count > 0)
            values[given++] = (nevod_pair){setting->name, setting->default_value};
    }
    if (scheme->create(scheme, &host, values, given, &instance, &errors) != NEVOD_OK) fail("create");
    free(values);
}

/* -- sign -- */

static int32_t print_header(void *host, nevod_bytes name, nevod_bytes value) {
    (void)host;
    printf("%.*s: %.*s\n", (int)name.count, (const char *)name.data, (int)value.count, (const char *)value.data);
    return NEVOD_OK;
}
static int32_t no_body(void *host, nevod_bytes body) {
    (void)host;
    (void)body;
    return NEVOD_OK;
}
static int32_t no_wrapping(void *host, uint64_t length, void *wrapping) {
    (void)host;
    (void)length;
    scheme->body_free(instance, wrapping);
    return NEVOD_OK;
}

static void sign(void) {
    static const uint8_t random[32] = {7};
    nevod_view view = {.struct_size = sizeof view, .method = bytes("GET"), .scheme = bytes("https"),
                       .authority = bytes("api.example.com"), .target = bytes("/orders?page=2"), .attempt = 1,
                       .unix_time_ns = TIME, .random = {random, sizeof random}};
    nevod_edits edits = {sizeof edits, 0, NULL, print_header, print_header, print_header, print_header, no_body, no_wrapping};
    if (scheme->authorize(instance, NULL, &view, &edits, &errors) != NEVOD_OK) fail("authorize");
}

/* -- flows -- */

typedef struct flow {
    void *handle;
    enum { NOTHING, ASKED, SENT, SHOWN, KEPT, DONE } state;
    pthread_t last; /* the thread of the latest action */
} flow;

#define ACTION(name, parameters, next) \
    static int32_t name parameters { \
        ((flow *)host)->state = next; \
        ((flow *)host)->last = pthread_self(); \
        return NEVOD_OK; \
    }
ACTION(on_send, (void *host, const nevod_flow_request *request __attribute__((unused))), SENT)
ACTION(on_ask, (void *host, const nevod_question *const *questions __attribute__((unused)), uint32_t n __attribute__((unused))), ASKED)
ACTION(on_show, (void *host, nevod_bytes text __attribute__((unused)), nevod_bytes url __attribute__((unused))), SHOWN)
ACTION(on_keep, (void *host, const nevod_token *token __attribute__((unused))), KEPT)
ACTION(on_token, (void *host, const nevod_token *token __attribute__((unused))), DONE)
static int32_t on_listen(void *host, const nevod_listen *options) { (void)host; (void)options; return NEVOD_UNSUPPORTED; }
static int32_t on_browse(void *host, nevod_bytes url) { (void)host; (void)url; return NEVOD_UNSUPPORTED; }
static int32_t on_wait(void *host, uint64_t nanoseconds) { (void)host; (void)nanoseconds; return NEVOD_UNSUPPORTED; }
static int32_t on_state(void *host, nevod_bytes state) { (void)host; (void)state; return NEVOD_OK; }

/* What `ask` does on this thread. */
static _Thread_local int32_t (*asking)(void *, const nevod_question *const *, uint32_t) = on_ask;

static int32_t step(flow *flow, int32_t kind) {
    static const uint8_t random[32] = {7};
    nevod_pair answers[] = {{bytes("user"), bytes("ada")}, {bytes("password"), bytes("secret")}};
    nevod_pair headers[] = {{bytes("Content-Type"), bytes("application/json")}};
    nevod_response response = {.struct_size = sizeof response, .status = 200, .header_count = 1, .headers = headers,
                               .body = bytes("{\"token\":\"abc\",\"expires_in\":60}"), .url = bytes("http://127.0.0.1:1/login")};
    nevod_event event = {.struct_size = sizeof event, .kind = kind, .unix_time_ns = TIME, .random = {random, sizeof random}};
    if (kind == NEVOD_EVENT_RESPONSE) event.response = &response;
    if (kind == NEVOD_EVENT_ANSWERS) event.answers = answers, event.answer_count = 2;
    nevod_actions actions = {sizeof actions, 0, flow, on_send, asking, on_show, on_listen, on_browse, on_wait, on_keep, on_token, on_state};
    flow->state = NOTHING;
    return scheme->flow_step(instance, flow->handle, &event, &actions, &errors);
}

/* Runs a login to its end, or frees it after that many steps. */
static void login(int steps) {
    static const int32_t next[] = {[ASKED] = NEVOD_EVENT_ANSWERS, [SENT] = NEVOD_EVENT_RESPONSE, [SHOWN] = NEVOD_EVENT_SHOWN,
                                   [KEPT] = NEVOD_EVENT_KEPT};
    flow flow = {0};
    if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow.handle, &errors) != NEVOD_OK) fail("flow_begin");
    int32_t kind = NEVOD_EVENT_START;
    for (int taken = 0; taken < steps; taken++) {
        if (step(&flow, kind) != NEVOD_OK) fail("flow_step");
        if (!pthread_equal(flow.last, pthread_self())) fail("a flow ran on another thread than its step's");
        if (flow.state == NOTHING) fail("a step without an action");
        if (flow.state == DONE) break;
        kind = next[flow.state];
    }
    scheme->flow_free(instance, flow.handle);
}

static void *logins(void *count) {
    /* Every fourth login is freed in the middle. */
    for (long number = 0; number < (long)count; number++) login(number % 4 == 3 ? (int)(number / 4 % 5) : 100);
    return NULL;
}

static void run(int threads, long flows) {
    pthread_t started[64];
    for (int thread = 0; thread < threads; thread++)
        if (pthread_create(&started[thread], NULL, logins, (void *)flows) != 0) fail("pthread_create");
    for (int thread = 0; thread < threads; thread++) pthread_join(started[thread], NULL);
}

/* -- free -- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum { BEFORE, HELD, RELEASED } phase;

/* Waits in a step until the other thread has freed its flows. The limit prevents hanging. */
static int32_t held_ask(void *host, const nevod_question *const *questions, uint32_t n) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&lock);
    phase = HELD;
    pthread_cond_broadcast(&changed);
    while (phase != RELEASED)
        if (pthread_cond_timedwait(&changed, &lock, &until) != 0) fail("flow_free waited for the step of another flow");
    pthread_mutex_unlock(&lock);
    return on_ask(host, questions, n);
}

static void *hold_step(void *unused) {
    flow flow = {0};
    asking = held_ask;
    if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow.handle, &errors) != NEVOD_OK) fail("flow_begin");
    if (step(&flow, NEVOD_EVENT_START) != NEVOD_OK || flow.state != ASKED) fail("flow_step");
    scheme->flow_free(instance, flow.handle);
    return unused;
}

/* Several waiting, finished and unstarted flows, freed on this thread while the other thread is in its step. */
static void free_while_held(void) {
    enum { COUNT = 3000 };
    static flow flows[COUNT];
    for (int index = 0; index < COUNT; index++) {
        flows[index] = (flow){0};
        if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flows[index].handle, &errors) != NEVOD_OK) fail("flow_begin");
        if (index % 3 != 0 && step(&flows[index], NEVOD_EVENT_START) != NEVOD_OK) fail("flow_step");
        if (index % 3 == 2 && step(&flows[index], NEVOD_EVENT_CANCELLED) != NEVOD_UNAVAILABLE) fail("cancelled");
    }
    pthread_t thread;
    phase = BEFORE;
    if (pthread_create(&thread, NULL, hold_step, NULL) != 0) fail("pthread_create");
    pthread_mutex_lock(&lock);
    while (phase != HELD) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int index = 0; index < COUNT; index++) scheme->flow_free(instance, flows[index].handle);
    pthread_mutex_lock(&lock);
    phase = RELEASED;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) fail("/proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **arguments) {
    if (count < 3) fail("usage: see the first comment");
    if (strcmp(arguments[1], "sign") == 0) {
        load(arguments[2], arguments + 3, count - 3);
        sign();
    } else if (strcmp(arguments[1], "flows") == 0 && count == 5) {
        char server[] = "server=http://127.0.0.1:1";
        load(arguments[2], (char *[]){server}, 1);
        int threads = atoi(arguments[3]);
        long flows = atol(arguments[4]);
        run(threads, flows / 10 + 100);
        long before = resident();
        run(threads, flows);
        printf("%ld KiB\n", resident() - before);
    } else if (strcmp(arguments[1], "free") == 0) {
        char server[] = "server=http://127.0.0.1:1";
        load(arguments[2], (char *[]){server}, 1);
        errors.report = no_report; /* of cancelled flows */
        free_while_held();
        long before = resident();
        for (int round = 0; round < 5; round++) free_while_held();
        printf("%ld KiB\n", resident() - before);
    } else {
        fail("usage: see the first comment");
    }
    scheme->destroy(instance);
    return 0;
}
