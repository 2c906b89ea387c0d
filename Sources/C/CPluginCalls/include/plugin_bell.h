/* A lock with a signal, for threads that wait to be called, with or without a time limit.
 *
 * In C, because the module that Swift attributes timespec to depends on how the compiler groups the files. */
#ifndef NEVOD_PLUGIN_BELL_H
#define NEVOD_PLUGIN_BELL_H

#include <stdint.h>

typedef struct nevod_bell nevod_bell;

/* Aborts if there is no memory, as Swift's own allocations do. */
nevod_bell *nevod_bell_make(void);
void nevod_bell_free(nevod_bell *bell);
void nevod_bell_lock(nevod_bell *bell);
void nevod_bell_unlock(nevod_bell *bell);
/* Wakes one thread. The caller holds the lock. */
void nevod_bell_ring(nevod_bell *bell);
/* Waits for nevod_bell_ring, and releases the lock in the meantime. The caller holds the lock. May return early.
 * milliseconds: negative for no limit. Returns 0 once this time has passed. */
int nevod_bell_wait(nevod_bell *bell, int64_t milliseconds);

#endif
