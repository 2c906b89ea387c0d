/* The plugin calls in progress, as one stack per thread. Sinks check it to reject a plugin that uses a sink after its call. A
 * signal handler reads it to name the plugin that crashed.
 *
 * In C, because Swift has no thread-local variables that a signal handler can read. */
#ifndef NEVOD_PLUGIN_CALLS_H
#define NEVOD_PLUGIN_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Names for messages. Never freed. */
typedef struct nevod_call_names {
    const char *library; /* the path of the plugin's library, or "built in" */
    const char *scheme;  /* the scheme's id; NULL before the schemes are known */
} nevod_call_names;

/* Each thread has this many tables of each kind of sink, and uses them in turn. */
#define NEVOD_CALL_SLOTS 16

/* A thread that has called a plugin. Never freed, because a plugin may still hold pointers to the tables of its sinks: when the
 * thread ends, another one takes the record over. */
typedef struct nevod_call_thread {
    struct nevod_call_thread *next;      /* the next of all records */
    struct nevod_call_thread *next_free; /* the next record without a thread */
    uint64_t generation;                 /* of the thread's latest call; the high bits are the record's own */
    void *tables;                        /* the sinks' tables, laid out by the caller; NULL before its first call */
    /* The latest call of each slot, from which other threads find a generation's scheme. */
    uint64_t generations[NEVOD_CALL_SLOTS];
    const void *schemes[NEVOD_CALL_SLOTS];
    /* The thread's outermost call, for other threads' messages: its generation (0 if there is no call) and its names. */
    uint64_t outermost;
    const nevod_call_names *names;
    const char *function;
    /* The loop that the thread drives, and the function that hands the loop to another thread; NULL if the thread drives no loop.
     * The function returns 1 if another thread drives the loop from now on. */
    void *loop;
    int32_t (*take_over)(void *loop);
    /* The thread's outermost call if it has a time limit, and its generation: 0 without such a call, or one of the marks below
     * while the monitor looks at it. The monitor and the thread that leaves its call race to replace the generation; the first one
     * decides. */
    struct nevod_call *guarded_call;
    uint64_t guarded;
} nevod_call_thread;

/* The monitor looks at the call; the thread must not leave it. */
#define NEVOD_CALL_TAKING 1ull
/* The monitor has done what it can. */
#define NEVOD_CALL_TAKEN 2ull

/* A call in progress; on the stack of the thread that makes it. */
typedef struct nevod_call {
    struct nevod_call *outer;     /* the call during which this one is made, on the same thread; NULL if none */
    const nevod_call_names *names;
    const char *function;         /* "authorize"; never freed */
    uint64_t generation;          /* unique in this process; never 0 */
    int64_t began;                /* on the monotonic clock, in nanoseconds, accurate to a few milliseconds */
    nevod_call_thread *thread;
    const void *scheme;           /* the caller's record of the scheme, never freed; NULL before the schemes are known */
    void *services;               /* the instance's services, valid during the call; NULL if there is none */
    int32_t is_limited;           /* 1 if the function must not block; 2 if it may, except on the thread of a loop */
    /* The sinks that the call may use, on the same stack; NULL for the others. */
    void *errors;
    void *edits;
    void *actions;
    void *output;
} nevod_call;

/* Read by a signal handler: with the general model, the first use on a thread could allocate memory. */
#ifdef __ELF__
#define NEVOD_SIGNAL_SAFE __attribute__((tls_model("initial-exec")))
#else
#define NEVOD_SIGNAL_SAFE
#endif

/* The innermost call of the current thread; NULL if none is in progress. */
extern _Thread_local nevod_call *nevod_current_call NEVOD_SIGNAL_SAFE;
extern _Thread_local nevod_call_thread *nevod_own_call_thread;

static inline nevod_call *nevod_call_current(void) { return nevod_current_call; }

/* Makes a record for the current thread, which has none yet. */
nevod_call_thread *nevod_call_thread_begin(void);
/* Returns a new number for the high bits of a thread's generations. */
uint64_t nevod_call_thread_number(void);

/* Declares that the current thread drives a loop, or with NULL that it drives none. Called outside of all calls. `loop` must live
 * until the thread declares that it drives none, or is no longer in a job of the loop. */
void nevod_call_thread_drive(void *loop, int32_t (*take_over)(void *loop));

/* For the monitor: the first record; the generation of a thread's call with a time limit, or 0; whether any thread has such a
 * call. */
nevod_call_thread *nevod_call_threads(void);
uint64_t nevod_call_guarded(nevod_call_thread *thread);
int32_t nevod_call_any_guarded(void);
/* Gets the names of a thread's outermost call. Returns its generation, or 0 if there is no call. */
uint64_t nevod_call_outermost(const nevod_call_thread *thread, const nevod_call_names **names, const char **function);
/* Keeps a thread in its call, and returns the call, or NULL if the thread has left it. Call nevod_call_taken afterwards. */
nevod_call *nevod_call_take(nevod_call_thread *thread, uint64_t generation);
/* Lets the thread leave its call. is_done: 0 to leave the call as it was; 1 if it needs no more attention and the thread no longer
 * drives a loop. */
void nevod_call_taken(nevod_call_thread *thread, uint64_t generation, int32_t is_done);

/* Sets the function that wakes the monitor. Calls run it on their own thread. */
void nevod_call_set_watcher(void (*watcher)(void));
/* Sets whether the monitor is awake. Calls wake it if it isn't. */
void nevod_call_watching(int32_t is_watching);
int32_t nevod_call_is_watched(void);
extern int32_t nevod_calls_unwatched;
void nevod_call_watch(void);
void nevod_call_wait_until_taken(nevod_call_thread *thread, uint64_t generation);

/* Returns the scheme's record for a call of this generation, or NULL if that call was too long ago. */
const void *nevod_call_scheme(uint64_t generation);

/* The monotonic clock in nanoseconds, accurate to a few milliseconds: cheap, and precise enough to find calls that block. */
int64_t nevod_call_clock(void);

static inline uint64_t nevod_call_slot(uint64_t generation) { return generation % NEVOD_CALL_SLOTS; }

#define NEVOD_CALL_NUMBER_SHIFT 44

/* Generations need no atomic counter: each thread has a range of its own, and takes another one when it is used up. */
static inline uint64_t nevod_call_next_generation(nevod_call_thread *thread) {
    uint64_t next = thread->generation + 1;
    if (__builtin_expect(next << (64 - NEVOD_CALL_NUMBER_SHIFT) == 0, 0)) next = nevod_call_thread_number() + 1;
    return thread->generation = next;
}

/* Fills in the fields that the caller doesn't set, and makes this the current call. */
static inline void nevod_call_enter(nevod_call *call) {
    nevod_call_thread *thread = nevod_own_call_thread;
    if (__builtin_expect(thread == NULL, 0)) thread = nevod_call_thread_begin();
    nevod_call *outer = nevod_current_call;
    uint64_t generation = nevod_call_next_generation(thread);
    /* A nested call must not touch the sink tables of the calls around it. If calls nest deeper than there are slots, the outermost
     * lose their tables, and using them is rejected like using a kept sink. */
    for (int tries = 0; outer != NULL && tries < NEVOD_CALL_SLOTS; tries++) {
        const nevod_call *same = outer;
        while (same != NULL && nevod_call_slot(same->generation) != nevod_call_slot(generation)) same = same->outer;
        if (same == NULL) break;
        generation = nevod_call_next_generation(thread);
    }
    call->outer = outer;
    call->thread = thread;
    call->generation = generation;
    uint64_t slot = nevod_call_slot(generation);
    __atomic_store_n(&thread->schemes[slot], call->scheme, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->generations[slot], generation, __ATOMIC_RELEASE);
    call->began = nevod_call_clock();
    /* A signal handler must find a complete call. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    nevod_current_call = call;
    if (outer == NULL) {
        __atomic_store_n(&thread->names, call->names, __ATOMIC_RELAXED);
        __atomic_store_n(&thread->function, call->function, __ATOMIC_RELAXED);
        __atomic_store_n(&thread->outermost, generation, __ATOMIC_RELEASE);
    }
    if (call->is_limited == 2) call->is_limited = thread->loop != NULL;
    if (call->is_limited && outer == NULL) {
        thread->guarded_call = call;
        __atomic_store_n(&thread->guarded, generation, __ATOMIC_RELEASE);
        if (__builtin_expect(__atomic_load_n(&nevod_calls_unwatched, __ATOMIC_RELAXED), 0)) nevod_call_watch();
    }
}

static inline void nevod_call_leave(nevod_call *call) {
    if (call->is_limited && call->outer == NULL) {
        uint64_t expected = call->generation;
        if (__builtin_expect(!__atomic_compare_exchange_n(&call->thread->guarded, &expected, 0, 0, __ATOMIC_ACQ_REL,
                                                          __ATOMIC_ACQUIRE), 0))
            nevod_call_wait_until_taken(call->thread, call->generation);
    }
    nevod_current_call = call->outer;
    if (call->outer == NULL) __atomic_store_n(&call->thread->outermost, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_RELEASE);
}

#endif
