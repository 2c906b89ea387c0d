/* Apart from CLinux, and without headers of the C library that define types: Swift would attribute these to this module, in each
 * program that uses a lock. */
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

extern long syscall(long number, ...);

/* Takes a lock that the caller found taken. A word is 0 if the lock is free, 1 if it is held, and 2 if threads wait for it. A thread that
 * runs may take it before one that was woken: handing it over would cost a switch of threads for each use. */
static inline void nevod_lock_contended(uint32_t *word) {
    /* What it guards takes less time than a sleep. */
    for (int round = 0; round < 100; round++) {
        uint32_t expected = 0;
        if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0
            && __atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void nevod_lock_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
