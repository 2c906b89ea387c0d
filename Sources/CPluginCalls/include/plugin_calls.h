/* The calls of plugins that are in progress, a stack for each thread. Sinks check it, to refuse a plugin that calls one after its
 * call; a signal handler reads it, to name the plugin that crashed.
 *
 * In C, since Swift has no thread-local variables that a signal handler can read. */
#ifndef NEVOD_PLUGIN_CALLS_H
#define NEVOD_PLUGIN_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Names for messages. Never freed. */
typedef struct nevod_call_names {
    const char *library; /* the path of the plugin's library, or "built in" */
    const char *scheme;  /* the scheme's id; NULL before the schemes are known */
} nevod_call_names;

/* Each thread has this many tables of each kind of sink, and uses them in turn. */
#define NEVOD_CALL_SLOTS 16

/* A thread that has called a plugin. Never freed: when the thread ends, another one takes the record over, because a plugin may
 * still hold pointers to the tables of its sinks. */
typedef struct nevod_call_thread {
    struct nevod_call_thread *next;      /* the next of all records */
    struct nevod_call_thread *next_free; /* the next record without a thread */
    uint64_t generation;                 /* of the thread's latest call; the high bits are the record's own */
    void *tables;                        /* of the sinks, laid out by the caller; NULL before its first call */
    /* The latest call of each slot, for threads that look for the scheme that a generation belongs to. */
    uint64_t generations[NEVOD_CALL_SLOTS];
    const void *schemes[NEVOD_CALL_SLOTS];
} nevod_call_thread;

/* A call in progress; on the stack of the thread that makes it. */
typedef struct nevod_call {
    struct nevod_call *outer;     /* the call that this one is made during, on the same thread; NULL if none */
    const nevod_call_names *names;
    const char *function;         /* "authorize"; never freed */
    uint64_t generation;          /* unique in this process; never 0 */
    int64_t began;                /* on the monotonic clock, in nanoseconds, to a few milliseconds */
    nevod_call_thread *thread;
    const void *scheme;           /* the caller's record of the scheme, never freed; NULL before the schemes are known */
    void *services;               /* the instance's services, valid during the call; NULL if there is none */
    /* The sinks that the call may use, on the same stack; NULL for those that it has none of. */
    void *errors;
    void *edits;
    void *actions;
} nevod_call;

/* A signal handler reads it: by the general model, the first use on a thread may allocate memory. */
#ifdef __ELF__
#define NEVOD_SIGNAL_SAFE __attribute__((tls_model("initial-exec")))
#else
#define NEVOD_SIGNAL_SAFE
#endif

/* The innermost call of the current thread; NULL if none is in progress. */
extern _Thread_local nevod_call *nevod_current_call NEVOD_SIGNAL_SAFE;
extern _Thread_local nevod_call_thread *nevod_own_call_thread;

static inline nevod_call *nevod_call_current(void) { return nevod_current_call; }

/* A record for the current thread, which has none yet. */
nevod_call_thread *nevod_call_thread_begin(void);
/* A new number for the high bits of a thread's generations. */
uint64_t nevod_call_thread_number(void);

/* The record of the scheme that a call of this generation belongs to; NULL if that was too long ago. */
const void *nevod_call_scheme(uint64_t generation);

/* Cheaper than the precise clock, and precise enough to find calls that block. */
static inline int64_t nevod_call_clock(void) {
    struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline uint64_t nevod_call_slot(uint64_t generation) { return generation % NEVOD_CALL_SLOTS; }

#define NEVOD_CALL_NUMBER_SHIFT 44

/* Generations need no atomic counter: each thread has a range of its own, and takes another one when it is used up. */
static inline uint64_t nevod_call_next_generation(nevod_call_thread *thread) {
    uint64_t next = thread->generation + 1;
    if (__builtin_expect(next << (64 - NEVOD_CALL_NUMBER_SHIFT) == 0, 0)) next = nevod_call_thread_number() + 1;
    return thread->generation = next;
}

/* Fills in the fields of the call that aren't the caller's, and makes it the current one. */
static inline void nevod_call_enter(nevod_call *call) {
    nevod_call_thread *thread = nevod_own_call_thread;
    if (__builtin_expect(thread == NULL, 0)) thread = nevod_call_thread_begin();
    nevod_call *outer = nevod_current_call;
    uint64_t generation = nevod_call_next_generation(thread);
    /* A call made during others must leave the tables of their sinks alone. Nested deeper than there are slots, the outermost
     * lose theirs, and are refused like kept sinks. */
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
}

static inline void nevod_call_leave(nevod_call *call) {
    nevod_current_call = call->outer;
    __atomic_signal_fence(__ATOMIC_RELEASE);
}

#endif
