#include "plugin_calls.h"

#include "crash_report.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local nevod_call *nevod_current_call NEVOD_SIGNAL_SAFE;
_Thread_local nevod_call_thread *nevod_own_call_thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nevod_call_thread *all, *unused;
static uint64_t last_number;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end(void *record) {
    nevod_call_thread *thread = record;
    /* A destructor that runs later may call a plugin again. It then gets a record like any thread. */
    nevod_own_call_thread = NULL;
    pthread_mutex_lock(&lock);
    thread->next_free = unused;
    unused = thread;
    pthread_mutex_unlock(&lock);
}

static void make_key(void) {
    /* Without a key, the records of threads that have ended are not used again. */
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
        /* As Swift does, whose allocations can't fail either. */
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
