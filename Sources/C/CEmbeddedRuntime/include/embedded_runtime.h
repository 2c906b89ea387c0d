/* Only in plugins built in Embedded Swift: the C library's headers, for which Embedded Swift has no module, and the functions that
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
/* Calls `release` with the flow, without waiting: now if no other thread runs a flow, otherwise on that thread when it leaves. */
void nevod_flows_free(void *flow, void *instance, void (*release)(void *flow));
/* Returns when all freed flows of this instance are released. Waits only if another thread runs a flow and must still release
 * one. */
void nevod_flows_settle(void *instance);
/* Runs queued jobs of tasks until the queue is empty. Call it only between enter and leave. */
void nevod_flows_drain(void);

#endif
