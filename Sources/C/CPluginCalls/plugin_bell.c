#define _GNU_SOURCE
#include "plugin_bell.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct nevod_bell {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

/* Darwin's condition variables know only the wall clock. */
#ifdef __APPLE__
#define NEVOD_BELL_CLOCK CLOCK_REALTIME
#else
#define NEVOD_BELL_CLOCK CLOCK_MONOTONIC
#endif

nevod_bell *nevod_bell_make(void) {
    nevod_bell *bell = malloc(sizeof *bell);
    if (bell == NULL) abort();
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#ifndef __APPLE__
    pthread_condattr_setclock(&attributes, NEVOD_BELL_CLOCK);
#endif
    pthread_mutex_init(&bell->mutex, NULL);
    pthread_cond_init(&bell->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return bell;
}

void nevod_bell_free(nevod_bell *bell) {
    pthread_cond_destroy(&bell->condition);
    pthread_mutex_destroy(&bell->mutex);
    free(bell);
}

void nevod_bell_lock(nevod_bell *bell) { pthread_mutex_lock(&bell->mutex); }
void nevod_bell_unlock(nevod_bell *bell) { pthread_mutex_unlock(&bell->mutex); }
void nevod_bell_ring(nevod_bell *bell) { pthread_cond_signal(&bell->condition); }

int nevod_bell_wait(nevod_bell *bell, int64_t milliseconds) {
    if (milliseconds < 0) {
        pthread_cond_wait(&bell->condition, &bell->mutex);
        return 1;
    }
    struct timespec end;
    clock_gettime(NEVOD_BELL_CLOCK, &end);
    int64_t nanoseconds = end.tv_nsec + milliseconds % 1000 * 1000000;
    end.tv_sec += (time_t)(milliseconds / 1000 + nanoseconds / 1000000000);
    end.tv_nsec = (long)(nanoseconds % 1000000000);
    return pthread_cond_timedwait(&bell->condition, &bell->mutex, &end) != ETIMEDOUT;
}
