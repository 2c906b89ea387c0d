/* Functions that Swift's Glibc module leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* For memory that other processes have mapped too. */
static inline uint64_t nevod_load(const uint64_t *place) { return __atomic_load_n(place, __ATOMIC_SEQ_CST); }
static inline void nevod_store(uint64_t *place, uint64_t value) { __atomic_store_n(place, value, __ATOMIC_SEQ_CST); }
static inline int nevod_replace(uint64_t *place, uint64_t expected, uint64_t value) {
    return __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Declared for GNU sources only. */
extern char *secure_getenv(const char *);
static inline const char *nevod_secure_getenv(const char *name) { return secure_getenv(name); }

/* prctl is variadic, so Swift can't call it. Returns 0, or -1 with errno. */
static inline int nevod_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* Returns 0, or -1 with errno: EEXIST if the new name is taken. Declared for GNU sources only. */
extern int renameat2(int, const char *, int, const char *, unsigned);
static inline int nevod_rename_unless_present(const char *from, const char *to) {
    int status = renameat2(AT_FDCWD, from, AT_FDCWD, to, 1);
    /* Network file systems may support only rename, which replaces a folder only if that is empty. */
    return status != 0 && errno == EINVAL ? rename(from, to) : status;
}

/* In C, because the module that Swift attributes timespec to depends on how the compiler groups the files. */
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

/* In C for the same reason. Starts a joinable thread with a stack of `size` bytes. Returns 0 or an error number. */
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

/* Declared for GNU sources only. Opens a file without a name, at descriptor 10 or higher and closed by exec. Returns -1 with
 * errno. */
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

/* Declared for GNU sources only. Both ends are closed by exec. Returns 0, or -1 with errno. */
extern int pipe2(int *, int);
static inline int nevod_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

/* Declared for GNU sources only (glibc 2.34). A child closes its descriptors from `first` on. Returns 0 or an error number. */
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
static inline int nevod_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
/* POSIX_SPAWN_SETSID, for GNU sources only. */
static const int nevod_spawn_set_session = 0x80;

/* prctl is variadic. Kills this process when the thread that started it ends. */
#include <signal.h>
static inline int nevod_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

/* A member of a union, which Swift doesn't import. */
static inline int nevod_signal_sender(const siginfo_t *info) { return info->si_pid; }

/* From now on, this process and its threads can't open sockets (EACCES).
 * Returns 0, or -1 if the kernel doesn't support that. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
static inline int nevod_refuse_sockets(void) {
    struct sock_filter rules[] = {
        {0x20, 0, 0, 0},                               /* load the system call's number */
        {0x15, 0, 1, SYS_socket},                      /* if it is `socket`, continue with the next, else skip it */
        {0x06, 0, 0, SECCOMP_RET_ERRNO | EACCES},
        {0x06, 0, 0, SECCOMP_RET_ALLOW},
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#include <gnu/libc-version.h>
static inline const char *nevod_libc_version(void) { return gnu_get_libc_version(); }

/* The bytes that the whole process has allocated. */
#include <malloc.h>
static inline size_t nevod_heap_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
