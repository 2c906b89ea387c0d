/* What Swift's own module of glibc leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <stdint.h>
#include <time.h>

/* Of which module of C timespec is, for Swift, depends on which files the compiler happens to take together. */
static inline int64_t nevod_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
