/* What Swift's own module of glibc leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <stdint.h>
#include <time.h>

/* Of memory that other processes have mapped as well. */
static inline uint64_t nevod_load(const uint64_t *place) { return __atomic_load_n(place, __ATOMIC_SEQ_CST); }
static inline void nevod_store(uint64_t *place, uint64_t value) { __atomic_store_n(place, value, __ATOMIC_SEQ_CST); }
static inline int nevod_replace(uint64_t *place, uint64_t expected, uint64_t value) {
    return __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Declared for GNU sources only. */
extern char *secure_getenv(const char *);
static inline const char *nevod_secure_getenv(const char *name) { return secure_getenv(name); }

/* Variadic, which Swift can't call. 0, or -1 with errno. */
static inline int nevod_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* In C, since the module that Swift attributes timespec to depends on which files the compiler takes together. */
static inline int64_t nevod_nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static inline int64_t nevod_monotonic_nanoseconds(void) { return nevod_nanoseconds(CLOCK_MONOTONIC); }
/* Since the machine was started, including the time that it was suspended. */
static inline int64_t nevod_uptime_nanoseconds(void) { return nevod_nanoseconds(CLOCK_BOOTTIME); }
/* Since 1970-01-01T00:00:00Z. */
static inline int64_t nevod_wall_nanoseconds(void) { return nevod_nanoseconds(CLOCK_REALTIME); }
