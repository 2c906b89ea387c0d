#define _GNU_SOURCE
#include "crash_report.h"

#include "plugin_calls.h"

#ifdef __linux__

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    int number;
    const char *name;
} SIGNALS[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
               {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"}, {SIGABRT, "SIGABRT"}};

/* Each action is written before the handler that replaces it is installed. */
static struct sigaction previous[COUNT(SIGNALS)];
static char program[64];
static int exit_status, never_exits;
static int is_installed;
static pthread_key_t thread_key;

/* ---------------------------------------------------------------------------------------------------------------- */
/* The line. It is built in the handler's stack frame, and written whole.                                            */

struct line {
    char text[1024];
    size_t count;
};

static void append(struct line *line, const char *text) {
    while (*text && line->count < sizeof line->text - 1) line->text[line->count++] = *text++;
}

static void append_number(struct line *line, uintptr_t number, unsigned base) {
    char digits[24];
    size_t start = sizeof digits - 1;
    digits[start] = 0;
    do digits[--start] = "0123456789abcdef"[number % base];
    while (number /= base);
    append(line, digits + start);
}

static void append_status(struct line *line, int status) {
    if (status < 0) append(line, "-");
    append_number(line, status < 0 ? 0 - (unsigned)status : (unsigned)status, 10);
}

static void write_line(struct line *line) {
    line->text[line->count++] = '\n';
    const char *rest = line->text;
    while (line->count > 0) {
        ssize_t written = write(STDERR_FILENO, rest, line->count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        rest += written;
        line->count -= (size_t)written;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The call in progress. A plugin that overflows a buffer on the stack may have overwritten the frame, so the kernel     */
/* tries each address before it is read.                                                                             */

/* The kernel reads 8 bytes there before it rejects the invalid first argument. With NULL it would read nothing. */
static int is_readable(uintptr_t address) {
    address &= ~(uintptr_t)7;
    return address != 0 && (syscall(SYS_rt_sigprocmask, ~0, address, NULL, 8) == 0 || errno != EFAULT);
}

/* Also reads stacks that are no longer in use, which AddressSanitizer would report. */
__attribute__((no_sanitize("address"))) static int read_memory(void *to, const void *from, size_t count) {
    uintptr_t address = (uintptr_t)from;
    for (size_t index = 0; index < count; index++, address++) {
        if ((index == 0 || address % 8 == 0) && !is_readable(address)) return 0;
        ((char *)to)[index] = *(const char *)address;
    }
    return 1;
}

/* Returns 0 if this isn't text of a plausible length. */
static int read_text(char *to, size_t size, const char *from) {
    for (size_t index = 0; index < size; index++) {
        if (!read_memory(to + index, from + index, 1)) return 0;
        if (!to[index]) return index > 0;
        /* File names may contain any byte, and a terminal would obey some of them. */
        if (to[index] < ' ' || to[index] > '~') to[index] = '?';
    }
    return 0;
}

struct call_text {
    char library[4097], scheme[65], function[65];
};

/* Returns 0 if the frame is damaged. */
__attribute__((noinline)) static int read_call(struct call_text *to, const nevod_call *call) {
    nevod_call frame;
    nevod_call_names names;
    to->scheme[0] = 0;
    return read_memory(&frame, call, sizeof frame) && read_memory(&names, frame.names, sizeof names)
        && read_text(to->library, sizeof to->library, names.library)
        && read_text(to->function, sizeof to->function, frame.function)
        && (!names.scheme || read_text(to->scheme, sizeof to->scheme, names.scheme));
}

static void append_library(struct line *line, const char *path) {
    const char *slash = strrchr(path, '/');
    append(line, strcmp(path, "built in") == 0 ? "a built-in plugin" : slash ? slash + 1 : path);
}

/* Appends "libfoo.so crashed in authorize of its scheme "foo"", for the verb "crashed". `call` is NULL for a damaged frame. */
static void append_call(struct line *line, const struct call_text *call, const char *verb) {
    if (call) {
        append_library(line, call->library);
    } else {
        append(line, "a plugin");
    }
    append(line, " ");
    append(line, verb);
    append(line, " in ");
    append(line, call ? call->function : "a call whose name it has overwritten");
    if (!call || !call->scheme[0]) return;
    append(line, " of its scheme \"");
    append(line, call->scheme);
    append(line, "\"");
}

static struct line new_line(void) {
    struct line line = {.count = 0};
    append(&line, program);
    append(&line, ": ");
    return line;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Libraries by their memory.                                                                                        */

static struct {
    uintptr_t start, end;
    const char *path;
} libraries[64];
static size_t library_count;

struct search {
    uintptr_t inside, start, end;
};

static int matches(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct search *search = context;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (size_t index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        if (header->p_type != PT_LOAD) continue;
        uintptr_t address = info->dlpi_addr + header->p_vaddr;
        if (address < start) start = address;
        if (address + header->p_memsz > end) end = address + header->p_memsz;
    }
    if (search->inside < start || search->inside >= end) return 0;
    search->start = start;
    search->end = end;
    return 1;
}

void nevod_crash_report_add_library(const void *inside, const char *path) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct search search = {.inside = (uintptr_t)inside};
    if (!dl_iterate_phdr(matches, &search)) return;
    pthread_mutex_lock(&lock);
    int is_known = 0;
    for (size_t index = 0; index < library_count; index++) is_known |= libraries[index].start == search.start;
    if (!is_known && library_count < COUNT(libraries)) {
        libraries[library_count].start = search.start;
        libraries[library_count].end = search.end;
        libraries[library_count].path = path;
        __atomic_store_n(&library_count, library_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

static const char *library_at(uintptr_t address) {
    size_t count = __atomic_load_n(&library_count, __ATOMIC_ACQUIRE);
    for (size_t index = 0; index < count; index++) {
        if (address >= libraries[index].start && address < libraries[index].end) return libraries[index].path;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Signals.                                                                                                          */

static void registers(const void *context, uintptr_t *instruction, uintptr_t *stack) {
    *instruction = *stack = 0;
    if (!context) return;
#if defined(__x86_64__)
    *instruction = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    *stack = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    *instruction = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
    *stack = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
#endif
}

static size_t index_of(int number) {
    size_t index = 0;
    while (index < COUNT(SIGNALS) - 1 && SIGNALS[index].number != number) index++;
    return index;
}

/* "(SIGSEGV at address 0x10, a stack overflow)" */
static void append_cause(struct line *line, int number, const siginfo_t *info, uintptr_t stack) {
    append(line, " (");
    append(line, SIGNALS[index_of(number)].name);
    uintptr_t address = (uintptr_t)info->si_addr;
    /* The kernel doesn't know the address of every fault: without one, the code is SI_KERNEL. */
    if (info->si_code > 0 && info->si_code != SI_KERNEL && (number == SIGSEGV || number == SIGBUS)) {
        append(line, " at address 0x");
        append_number(line, address, 16);
        /* A function that has run out of stack accesses memory near its stack pointer. */
        if (number == SIGSEGV && stack && address + (64 << 10) >= stack && address < stack + (64 << 10))
            append(line, ", a stack overflow");
    }
    if (number == SIGABRT) append(line, ": abort, or an exception that was not caught");
    append(line, ")");
}

static void report(int number, const siginfo_t *info, const void *context) {
    const struct sigaction *old = &previous[index_of(number)];
    int is_ignored = !(old->sa_flags & SA_SIGINFO) && old->sa_handler == SIG_IGN;
    /* The signal was sent by another process, or is ignored. */
    if (info->si_code <= 0 && (is_ignored || info->si_pid != getpid())) return;
    uintptr_t instruction, stack;
    registers(context, &instruction, &stack);
    const nevod_call *call = nevod_call_current();
    const char *library = call ? NULL : library_at(instruction);
    if (!call && !library) return;
    struct line line = new_line();
    struct call_text text;
    if (call) {
        append_call(&line, read_call(&text, call) ? &text : NULL, "crashed");
    } else {
        append_library(&line, library);
        append(&line, " crashed outside of the host's calls");
    }
    append_cause(&line, number, info, stack);
    write_line(&line);
}

/* Ends the process as if there were no handler: by the signal, with the original information for a tracer. The signal is blocked
 * until the handler has returned, and is then pending, with the registers of the fault. */
static void die(int number, siginfo_t *info) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info) != 0) raise(number);
}

/* Does what the kernel would have done with the previous handler. */
static void give_way(int number, siginfo_t *info, void *context) {
    struct sigaction *old = &previous[index_of(number)];
    int has_information = old->sa_flags & SA_SIGINFO;
    if (!has_information && (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN)) {
        /* A fault can't be ignored: it would recur forever. */
        if (old->sa_handler == SIG_DFL || info->si_code > 0) die(number, info);
        return;
    }
    struct sigaction called = *old;
    if (called.sa_flags & SA_RESETHAND) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(number, &standard, NULL);
    }
    pthread_sigmask(SIG_BLOCK, &called.sa_mask, NULL);
    if (called.sa_flags & SA_NODEFER) {
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, number);
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
    if (has_information) {
        called.sa_sigaction(number, info, context);
    } else {
        called.sa_handler(number);
    }
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    report(number, info, context);
    errno = error;
    give_way(number, info, context);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* How the process and threads end.                                                                                  */

static void end_process(void) {
    if (never_exits) _exit(exit_status);
    /* The program's remaining exit() handlers must still run, and its file buffers must be written. exit() does both with the new
     * status; fflush(NULL) before _exit() would wait for a thread that reads standard input. */
    exit(exit_status);
}

static void report_exit(const char *function, int status, int has_status) {
    static int is_reported;
    const nevod_call *call = nevod_call_current();
    if (__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED)) return;
    struct line line = new_line();
    struct call_text text;
    if (call) {
        append_call(&line, read_call(&text, call) ? &text : NULL, "ended the process");
    } else {
        append(&line, "a plugin ended the process");
    }
    append(&line, " by ");
    append(&line, function);
    if (has_status) {
        append(&line, "(");
        append_status(&line, status);
        append(&line, ")");
    }
    write_line(&line);
}

/* Whether a plugin has called exit(), as far as we can tell. */
static int is_exit_of_plugin(void) {
    return nevod_call_current() || (never_exits && __atomic_load_n(&library_count, __ATOMIC_ACQUIRE) > 0);
}

static void at_exit(int status, void *unused) {
    (void)unused;
    if (!is_exit_of_plugin()) return;
    report_exit("exit", status, 1);
    /* From here on, the process no longer ends within a call. */
    nevod_current_call = NULL;
    end_process();
}

static void at_fast_exit(void) {
    if (!is_exit_of_plugin()) return;
    report_exit("quick_exit", 0, 0);
    _exit(exit_status);
}

/* Marks a thread that already had an alternate stack. */
static char other_stack;
static size_t page_size, stack_size;

/* The frame is in a part of the stack that is no longer in use. Read it before anything overwrites it. */
__attribute__((noinline)) static void report_end_of_thread(void) {
    static struct call_text text;
    int is_read = read_call(&text, nevod_call_current());
    static struct line line;
    line = new_line();
    append_call(&line, is_read ? &text : NULL, "ended the host's thread");
    append(&line, ", by pthread_exit or a cancellation");
    write_line(&line);
    nevod_current_call = NULL;
    end_process();
}

static void thread_ends(void *stack) {
    if (nevod_call_current()) report_end_of_thread();
    if (stack == &other_stack) return;
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && current.ss_sp == (char *)stack + page_size) {
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
    }
    munmap(stack, page_size + stack_size);
}

void nevod_crash_report_cover_thread(void) {
    if (!__atomic_load_n(&is_installed, __ATOMIC_ACQUIRE)) return;
    /* A thread's destructor that calls a plugin after `thread_ends` gets a new stack. */
    if (pthread_getspecific(thread_key)) return;
    int error = errno;
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE)) {
        pthread_setspecific(thread_key, &other_stack);
    } else {
        char *memory = mmap(NULL, page_size + stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            /* A guard page below the stack, where it would overflow. */
            mprotect(memory, page_size, PROT_NONE);
            stack_t stack = {.ss_sp = memory + page_size, .ss_size = stack_size};
            sigaltstack(&stack, NULL);
            pthread_setspecific(thread_key, memory);
        }
    }
    errno = error;
}

static void install(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    /* Beyond the registers that the kernel saves there, this has room for a previous handler. */
    stack_size = (64 << 10) + (getauxval(AT_MINSIGSTKSZ) + page_size - 1) / page_size * page_size;
    if (pthread_key_create(&thread_key, thread_ends) != 0) return;
    __atomic_store_n(&is_installed, 1, __ATOMIC_RELEASE);
    nevod_crash_report_cover_thread();
    for (size_t index = 0; index < COUNT(SIGNALS); index++) {
        sigaction(SIGNALS[index].number, NULL, &previous[index]);
        struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaction(SIGNALS[index].number, &action, NULL);
    }
    on_exit(at_exit, NULL);
    at_quick_exit(at_fast_exit);
}

void nevod_crash_report_install(const char *name, int status, int ends_itself) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!is_installed) {
        strncpy(program, name ? name : program_invocation_short_name, sizeof program - 1);
        exit_status = status;
        never_exits = ends_itself;
        install();
    }
    pthread_mutex_unlock(&lock);
}

#else

void nevod_crash_report_install(const char *name, int status, int ends_itself) { (void)name, (void)status, (void)ends_itself; }
void nevod_crash_report_add_library(const void *inside, const char *path) { (void)inside, (void)path; }
void nevod_crash_report_cover_thread(void) {}

#endif
