/* Names the plugin when the process ends during a plugin's call: one line on standard error for a crash, for exit(), and for a
 * thread that ends.
 *
 * In C, since a signal handler may neither allocate nor run Swift. */
#ifndef NEVOD_CRASH_REPORT_H
#define NEVOD_CRASH_REPORT_H

/* Reports crashes from now on: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS and SIGABRT. Then the previous handler or the
 * default action gets the signal. Only the first call has an effect. Thread: any.
 *
 * program:     the line's first word; NULL for the name of the running program. Copied.
 * exit_status: the process's exit status if a plugin calls exit() or quick_exit() during a call, or ends the thread.
 * never_exits: not 0 if the program itself never calls exit() nor returns from main: each exit() is then a plugin's. The process
 *              ends without the remaining exit handlers. */
void nevod_crash_report_install(const char *program, int exit_status, int never_exits);

/* Remembers a loaded library's memory, so that a crash on a thread outside of any call can name the library. Thread: any. Does
 * nothing after 64 libraries.
 *
 * inside: an address in the library, such as its entry point.
 * path:   never freed. */
void nevod_crash_report_add_library(const void *inside, const char *path);

/* Gives the current thread an alternate signal stack until the thread ends, unless it has one. Without it, a stack overflow can't
 * be reported. Called at the thread's first call of a plugin. Does nothing before reports are installed. */
void nevod_crash_report_cover_thread(void);

#endif
