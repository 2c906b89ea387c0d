/* Functions that Embedded Swift's archives leave to the program. The runtime's own header (swift/ExecutorImpl.h) names them. They
 * belong to one version of the toolchain: Tests/CommandLine/test_embedded.py names the functions that another version adds or
 * lacks. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "embedded_runtime.h"

#define SWIFTCALL __attribute__((swiftcall))

/* A job begins like any object, and has two words for its queue. */
typedef struct nevod_job {
    const void *metadata;
    uintptr_t references;
    struct nevod_job *next;
    void *unused;
} nevod_job;

typedef struct nevod_executor {
    void *identity;
    uintptr_t implementation;
} nevod_executor;

void _swift_job_run_c(nevod_job *job, nevod_executor executor);

/* A flow that was freed while another thread ran one. */
typedef struct freed {
    struct freed *next;
    void *flow, *instance;
    void (*release)(void *flow);
} freed;

/* The runtime keeps its current task in a plain global variable, so only one thread may run tasks: the holder, which has entered
 * `depth` times. `lock` guards the variables below. It is held for a few instructions only, so freeing a flow never waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static pthread_t holder;
static unsigned depth;
/* Empty while depth is 0: flows_free appends only while there is a holder, and the holder takes all of them before it leaves. */
static freed *first_freed, *last_freed;

/* Used by the holder or, if there is none, by a thread that queues a job under the lock. */
static nevod_job *first, *last;

/* Under the lock. */
static bool is_held_by_another(void) { return depth > 0 && !pthread_equal(holder, pthread_self()); }
static void wait_for_holder(void) {
    while (is_held_by_another()) pthread_cond_wait(&left, &lock);
}
static void hold(void) {
    holder = pthread_self();
    depth++;
}

void nevod_flows_enter(void) {
    pthread_mutex_lock(&lock);
    wait_for_holder();
    hold();
    pthread_mutex_unlock(&lock);
}

void nevod_flows_leave(void) {
    pthread_mutex_lock(&lock);
    while (depth == 1 && first_freed != NULL) {
        freed *next = first_freed;
        pthread_mutex_unlock(&lock);
        next->release(next->flow);
        pthread_mutex_lock(&lock);
        /* Only now: settle looks for flows that are not yet released. */
        first_freed = next->next;
        if (first_freed == NULL) last_freed = NULL;
        free(next);
    }
    if (--depth == 0) pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

void nevod_flows_free(void *flow, void *instance, void (*release)(void *flow)) {
    pthread_mutex_lock(&lock);
    if (is_held_by_another()) {
        freed *later = malloc(sizeof *later);
        if (later != NULL) {
            *later = (freed){NULL, flow, instance, release};
            if (last_freed != NULL) last_freed->next = later;
            else first_freed = later;
            last_freed = later;
            pthread_mutex_unlock(&lock);
            return;
        }
        wait_for_holder(); /* no memory: release it late rather than never */
    }
    hold();
    pthread_mutex_unlock(&lock);
    release(flow);
    nevod_flows_leave();
}

/* Under the lock. */
static bool is_freed_later(const void *instance) {
    const freed *found = first_freed;
    while (found != NULL && found->instance != instance) found = found->next;
    return found != NULL;
}

void nevod_flows_settle(void *instance) {
    pthread_mutex_lock(&lock);
    while (is_held_by_another() && is_freed_later(instance)) pthread_cond_wait(&left, &lock);
    pthread_mutex_unlock(&lock);
}

void nevod_flows_drain(void) {
    while (first != NULL) {
        nevod_job *job = first;
        first = job->next;
        if (first == NULL) last = NULL;
        _swift_job_run_c(job, (nevod_executor){NULL, 0});
    }
}

/* Any thread may resume a task, even a thread started by a library of the plugin's author. */
static void enqueue(nevod_job *job) {
    pthread_mutex_lock(&lock);
    wait_for_holder();
    job->next = NULL;
    if (last != NULL) last->next = job;
    else first = job;
    last = job;
    pthread_mutex_unlock(&lock);
}

SWIFTCALL void swift_task_enqueueGlobalImpl(nevod_job *job) { enqueue(job); }
SWIFTCALL void swift_task_enqueueMainExecutorImpl(nevod_job *job) { enqueue(job); }

/* For a flow, time passes only in its own `wait`. A sleeping task is never resumed, and its flow ends as suspended. */
SWIFTCALL void swift_task_enqueueGlobalWithDelayImpl(unsigned long long delay, nevod_job *job) {
    (void)delay;
    (void)job;
}
SWIFTCALL void swift_task_enqueueGlobalWithDeadlineImpl(
    long long seconds, long long nanoseconds, long long tolerance, long long tolerance_nanoseconds, int clock, nevod_job *job) {
    (void)seconds;
    (void)nanoseconds;
    (void)tolerance;
    (void)tolerance_nanoseconds;
    (void)clock;
    (void)job;
}

SWIFTCALL void swift_task_checkIsolatedImpl(nevod_executor executor) { (void)executor; }
SWIFTCALL int8_t swift_task_isIsolatingCurrentContextImpl(nevod_executor executor) {
    (void)executor;
    return -1; /* unknown */
}
SWIFTCALL nevod_executor swift_task_getMainExecutorImpl(void) { return (nevod_executor){NULL, 0}; }
SWIFTCALL bool swift_task_isMainExecutorImpl(nevod_executor executor) {
    (void)executor;
    return false;
}

/* A flow's function can't reach the runtime's other functions. */
static _Noreturn void unreachable(const char *function) {
    fprintf(stderr, "a plugin called %s, which plugins don't have\n", function);
    abort();
}
SWIFTCALL _Noreturn void swift_task_asyncMainDrainQueueImpl(void) { unreachable("swift_task_asyncMainDrainQueue"); }
SWIFTCALL void swift_task_donateThreadToGlobalExecutorUntilImpl(bool (*condition)(void *), void *context) {
    (void)condition;
    (void)context;
    unreachable("swift_task_donateThreadToGlobalExecutorUntil");
}

/* The runtime is written in C++ and uses these in code that plugins never reach. Defined here, they spare plugins libstdc++. */
void *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(void *node) {
    (void)node;
    unreachable("std::_Rb_tree_decrement");
}
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left, void *node, void *parent, void *header) {
    (void)left;
    (void)node;
    (void)parent;
    (void)header;
    unreachable("std::_Rb_tree_insert_and_rebalance");
}
void _ZSt20__throw_length_errorPKc(const char *what) { unreachable(what); }
void __cxa_pure_virtual(void) { unreachable("a pure virtual function"); }

/* The seed of hash tables. glibc has this function only since 2.36. */
void arc4random_buf(void *bytes, size_t count) {
    char *place = bytes;
    while (count > 0) {
        ssize_t filled = getrandom(place, count, 0);
        if (filled < 0 && errno != EINTR) unreachable("getrandom without success");
        if (filled > 0) {
            place += filled;
            count -= (size_t)filled;
        }
    }
}

/* glibc has these in a separate library, libm. */
double trunc(double number) {
    /* From 2^52 on, and for NaN, there is no fraction. */
    if (!(number > -0x1p52 && number < 0x1p52)) return number;
    return __builtin_copysign((double)(int64_t)number, number);
}
double ceil(double number) {
    double whole = trunc(number);
    return whole < number ? whole + 1 : whole;
}

/* Reads a number regardless of the program's locale. Returns NULL if there is no number. */
const char *_swift_stdlib_strtod_clocale(const char *text, double *result) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) return NULL;
    char *end;
    *result = strtod_l(text, &end, c);
    freelocale(c);
    return end == text ? NULL : end;
}
