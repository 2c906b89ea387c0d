/* The calls of plugins that are in progress, a stack for each thread. Sinks check it, to refuse a plugin that calls one after its
 * call; a signal handler reads it, to name the plugin that crashed.
 *
 * In C, since Swift has no thread-local variables that a signal handler can read. */
#ifndef NEVOD_PLUGIN_CALLS_H
#define NEVOD_PLUGIN_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Names for messages. Never freed. */
typedef struct nevod_call_names {
    const char *library; /* the path of the plugin's library, or "built in" */
    const char *scheme;  /* the scheme's id; NULL before the schemes are known */
} nevod_call_names;

/* A call in progress; on the stack of the thread that makes it. */
typedef struct nevod_call {
    struct nevod_call *outer;     /* the call that this one is made during, on the same thread; NULL if none */
    const nevod_call_names *names;
    const char *function;         /* "authorize"; never freed */
    uint64_t generation;          /* unique in this process; never 0 */
    int64_t began;                /* on the monotonic clock, in nanoseconds */
    /* The sinks that the call may use, on the same stack; NULL for those that it has none of. */
    void *errors;
    void *edits;
    void *actions;
} nevod_call;

/* The innermost call of the current thread; NULL if none is in progress. */
extern _Thread_local nevod_call *nevod_current_call;

static inline nevod_call *nevod_call_current(void) { return nevod_current_call; }

static inline void nevod_call_enter(nevod_call *call) {
    call->outer = nevod_current_call;
    nevod_current_call = call;
}

static inline void nevod_call_leave(nevod_call *call) { nevod_current_call = call->outer; }

#endif
