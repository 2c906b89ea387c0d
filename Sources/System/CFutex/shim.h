/* Separate from CLinux, and without C library headers that define types: Swift would attribute those types to this module in every
 * program that uses a lock. */
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

extern long syscall(long number, ...);

/* Takes a lock that the caller found taken. The word is 0 if the lock is free, 1 if it is held, and 2 if threads wait for it. A
 * running thread may take it before a woken one: handing it over would cost a thread switch for each use. */
static inline void nevod_lock_contended(uint32_t *word) {
    /* A critical section takes less time than a sleep. */
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
