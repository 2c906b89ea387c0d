#define _GNU_SOURCE
#include "plugin_calls.h"

#include "crash_report.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

_Thread_local nevod_call *nevod_current_call NEVOD_SIGNAL_SAFE;
_Thread_local nevod_call_thread *nevod_own_call_thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nevod_call_thread *all, *unused;
static uint64_t last_number;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end(void *record) {
    nevod_call_thread *thread = record;
    /* A destructor that runs later may call a plugin again. The thread then gets a new record. */
    nevod_own_call_thread = NULL;
    /* If a plugin ended the thread during a call, the call was on a stack that no longer exists. */
    uint64_t guarded = nevod_call_guarded(thread);
    if (guarded != 0 && !__atomic_compare_exchange_n(&thread->guarded, &guarded, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        nevod_call_wait_until_taken(thread, thread->generation);
    thread->loop = NULL;
    thread->take_over = NULL;
    pthread_mutex_lock(&lock);
    thread->next_free = unused;
    unused = thread;
    pthread_mutex_unlock(&lock);
}

static void make_key(void) {
    /* Without a key, the records of ended threads are not reused. */
    if (pthread_key_create(&key, end) != 0) key = (pthread_key_t)-1;
}

uint64_t nevod_call_thread_number(void) {
    return __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED) << NEVOD_CALL_NUMBER_SHIFT;
}

nevod_call_thread *nevod_call_thread_begin(void) {
    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    nevod_call_thread *thread = unused;
    if (thread != NULL) unused = thread->next_free;
    pthread_mutex_unlock(&lock);
    if (thread == NULL) {
        thread = calloc(1, sizeof *thread);
        /* Like Swift, whose allocations can't fail either. */
        if (thread == NULL) abort();
        thread->generation = nevod_call_thread_number();
        pthread_mutex_lock(&lock);
        thread->next = all;
        __atomic_store_n(&all, thread, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
    }
    nevod_own_call_thread = thread;
    if (key != (pthread_key_t)-1) pthread_setspecific(key, thread);
    nevod_crash_report_cover_thread();
    return thread;
}

/* The monitor */

int32_t nevod_calls_unwatched = 1;
static void (*watcher)(void);

void nevod_call_set_watcher(void (*function)(void)) { __atomic_store_n(&watcher, function, __ATOMIC_RELEASE); }

void nevod_call_watching(int32_t is_watching) {
    __atomic_store_n(&nevod_calls_unwatched, !is_watching, __ATOMIC_SEQ_CST);
}

int32_t nevod_call_is_watched(void) { return !__atomic_load_n(&nevod_calls_unwatched, __ATOMIC_SEQ_CST); }

void nevod_call_watch(void) {
    void (*function)(void) = __atomic_load_n(&watcher, __ATOMIC_ACQUIRE);
    /* If several threads come here at once, only one wakes the monitor. */
    if (function != NULL && __atomic_exchange_n(&nevod_calls_unwatched, 0, __ATOMIC_SEQ_CST)) function();
}

void nevod_call_thread_drive(void *loop, int32_t (*take_over)(void *loop)) {
    nevod_call_thread *thread = nevod_own_call_thread;
    if (thread == NULL) {
        if (loop == NULL) return;
        thread = nevod_call_thread_begin();
    }
    thread->loop = loop;
    thread->take_over = take_over;
}

nevod_call_thread *nevod_call_threads(void) { return __atomic_load_n(&all, __ATOMIC_ACQUIRE); }

uint64_t nevod_call_guarded(nevod_call_thread *thread) {
    uint64_t generation = __atomic_load_n(&thread->guarded, __ATOMIC_RELAXED);
    return generation == NEVOD_CALL_TAKING || generation == NEVOD_CALL_TAKEN ? 0 : generation;
}

int32_t nevod_call_any_guarded(void) {
    for (nevod_call_thread *thread = nevod_call_threads(); thread != NULL; thread = thread->next)
        if (nevod_call_guarded(thread) != 0) return 1;
    return 0;
}

uint64_t nevod_call_outermost(const nevod_call_thread *thread, const nevod_call_names **names, const char **function) {
    uint64_t generation = __atomic_load_n(&thread->outermost, __ATOMIC_ACQUIRE);
    *names = __atomic_load_n(&thread->names, __ATOMIC_ACQUIRE);
    *function = __atomic_load_n(&thread->function, __ATOMIC_ACQUIRE);
    /* Unless another call began in the meantime. */
    return __atomic_load_n(&thread->outermost, __ATOMIC_RELAXED) == generation ? generation : 0;
}

nevod_call *nevod_call_take(nevod_call_thread *thread, uint64_t generation) {
    int has = __atomic_compare_exchange_n(&thread->guarded, &generation, NEVOD_CALL_TAKING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return has ? thread->guarded_call : NULL;
}

void nevod_call_taken(nevod_call_thread *thread, uint64_t generation, int32_t is_done) {
    if (is_done) {
        thread->loop = NULL;
        thread->take_over = NULL;
    }
    __atomic_store_n(&thread->guarded, is_done ? NEVOD_CALL_TAKEN : generation, __ATOMIC_RELEASE);
}

void nevod_call_wait_until_taken(nevod_call_thread *thread, uint64_t generation) {
    /* This wait is short: meanwhile, the monitor does no more than start a thread. */
    uint64_t seen = NEVOD_CALL_TAKING;
    while (seen != NEVOD_CALL_TAKEN) {
        /* The call is as it was, so the thread may go on leaving it. */
        uint64_t expected = generation;
        if (__atomic_compare_exchange_n(&thread->guarded, &expected, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
        seen = expected;
        if (seen == NEVOD_CALL_TAKING) sched_yield();
    }
    __atomic_store_n(&thread->guarded, 0, __ATOMIC_RELEASE);
}

int64_t nevod_call_clock(void) {
    struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const void *nevod_call_scheme(uint64_t generation) {
    uint64_t slot = nevod_call_slot(generation);
    const nevod_call_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
    for (; thread != NULL; thread = thread->next) {
        if (__atomic_load_n(&thread->generations[slot], __ATOMIC_ACQUIRE) != generation) continue;
        const void *scheme = __atomic_load_n(&thread->schemes[slot], __ATOMIC_ACQUIRE);
        /* Unless a newer call took the slot in the meantime. */
        return __atomic_load_n(&thread->generations[slot], __ATOMIC_RELAXED) == generation ? scheme : NULL;
    }
    return NULL;
}
