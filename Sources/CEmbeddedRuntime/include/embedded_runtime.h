/* Part of plugins in Embedded Swift alone: the C library's headers, for which Embedded Swift has no module, and the functions that
 * Swift's archives leave to the program (embedded.c). */
#ifndef NEVOD_EMBEDDED_RUNTIME_H
#define NEVOD_EMBEDDED_RUNTIME_H

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A macro with a cast, which Swift doesn't import. */
static inline void *nevod_map_failed(void) { return MAP_FAILED; }

/* Waits until no other thread runs a flow of this plugin. The same thread may enter again. */
void nevod_flows_enter(void);
void nevod_flows_leave(void);
/* Calls `release` with the flow, without waiting: at once if no other thread runs a flow, else on that thread when it leaves. */
void nevod_flows_free(void *flow, void *instance, void (*release)(void *flow));
/* Returns when each flow that was freed of this instance is released. Waits only if another thread runs a flow and has yet to release one. */
void nevod_flows_settle(void *instance);
/* Runs the jobs of tasks until none is left. Only between enter and leave. */
void nevod_flows_drain(void);

#endif
