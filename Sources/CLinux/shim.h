/* What Swift's own module of glibc leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
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

/* 0, or -1 with errno: EEXIST if there is something of the new name already. Declared for GNU sources only. */
extern int renameat2(int, const char *, int, const char *, unsigned);
static inline int nevod_rename_unless_present(const char *from, const char *to) {
    int status = renameat2(AT_FDCWD, from, AT_FDCWD, to, 1);
    /* A network file system knows rename alone, which replaces no folder but an empty one. */
    return status != 0 && errno == EINVAL ? rename(from, to) : status;
}

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

/* In C for the same reason. A joinable thread with a stack of that many bytes; 0 or an error number. */
#include <pthread.h>
static inline int nevod_thread_with_stack(size_t size, pthread_t *thread, void *(*run)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int status = pthread_attr_setstacksize(&attributes, size);
    if (status == 0) status = pthread_create(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return status;
}

/* Adds to a number that several processes share. */
static inline void nevod_add(uint64_t *place, uint64_t summand) { __atomic_fetch_add(place, summand, __ATOMIC_SEQ_CST); }

/* Declared for GNU sources only. A file without a name, at 10 or higher and closed by exec; -1 with errno. */
extern int memfd_create(const char *, unsigned);
#include <fcntl.h>
#include <unistd.h>
static inline int nevod_moved_up(int file) {
    if (file < 0) return file;
    int moved = fcntl(file, F_DUPFD_CLOEXEC, 10);
    close(file);
    return moved;
}
static inline int nevod_memory_file(const char *name) { return nevod_moved_up(memfd_create(name, 1u)); }

/* A pipe with both ends at 10 or higher and closed by exec; reading from it doesn't wait. 0, or -1 with errno. */
static inline int nevod_pipe(int ends[2]) {
    int low[2];
    if (pipe(low) != 0) return -1;
    ends[0] = nevod_moved_up(low[0]);
    ends[1] = nevod_moved_up(low[1]);
    if (ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    return -1;
}

/* Variadic. Kills this process when the thread that started it ends. */
#include <signal.h>
static inline int nevod_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

/* A member of a union, which Swift doesn't import. */
static inline int nevod_signal_sender(const siginfo_t *info) { return info->si_pid; }

/* From now on, this process and its threads can open no socket (EACCES).
 * 0, or -1 where the kernel doesn't have that. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
static inline int nevod_refuse_sockets(void) {
    struct sock_filter rules[] = {
        {0x20, 0, 0, 0},                               /* load the number of the call */
        {0x15, 0, 1, SYS_socket},                      /* if it is socket: the next, else skip it */
        {0x06, 0, 0, SECCOMP_RET_ERRNO | EACCES},
        {0x06, 0, 0, SECCOMP_RET_ALLOW},
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#include <gnu/libc-version.h>
static inline const char *nevod_libc_version(void) { return gnu_get_libc_version(); }

/* Of the whole process: the bytes that are allocated. */
#include <malloc.h>
static inline size_t nevod_heap_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
