/*
 * A program with a crash report and without Swift. The statement FAULT crashes a thread during a plugin's call.
 */
#include "crash_report.h"
#include "plugin_calls.h"

#include <pthread.h>
#include <stdio.h>

static volatile int zero;
static int *volatile nowhere;
#define WRITE_TO_NULL *nowhere = 1
#define RECURSE zero = recurse(1)

__attribute__((noinline)) static int recurse(int depth)
{
    volatile char used[1024];
    used[depth % 1024] = 1;
    return depth ? recurse(depth + 1) + used[0] : 0;
}

/* Like a plugin's function, opaque to the compiler. */
__attribute__((noinline)) static void authorize(void)
{
    FAULT;
    __asm__ volatile("" : : : "memory");
}

static void *thread(void *unused)
{
    static const nevod_call_names names = {"/lib/libcrash.so", "crash"};
    nevod_call call = {.names = &names, .function = "authorize"};
    nevod_call_enter(&call);
    authorize();
    nevod_call_leave(&call);
    return unused;
}

int main(void)
{
    nevod_crash_report_install("host", 70, 0);
    pthread_t started;
    pthread_create(&started, NULL, thread, NULL);
    pthread_join(started, NULL);
    return 0;
}
