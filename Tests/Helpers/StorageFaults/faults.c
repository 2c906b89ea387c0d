/* Preloaded into storage-child. Records the calls on which a value's safety depends, and lets one of them fail. NEVOD_TRACE names
 * the file for the calls; NEVOD_FAIL is "CALL ERRNO". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static void trace(const char *call, int fd, const char *name, const char *detail)
{
    const char *to = getenv("NEVOD_TRACE");
    char link[64], path[4096] = "", line[8192];
    ssize_t n;
    int out, length;

    if (!to)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (!name && (n = readlink(link, path, sizeof path - 1)) > 0) {
        path[n] = 0;
        name = strrchr(path, '/') + 1;
    }
    length = snprintf(line, sizeof line, "%s %s%s\n", call, name ? name : "?", detail);
    out = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, out, line, (size_t)length);
    syscall(SYS_close, out);
}

static int fails(const char *call)
{
    const char *fail = getenv("NEVOD_FAIL");
    size_t length = strlen(call);

    if (!fail || strncmp(fail, call, length) || fail[length] != ' ')
        return 0;
    errno = atoi(fail + length);
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
    trace("fsync", fd, NULL, "");
    return fails("fsync") ? -1 : NEXT(fsync)(fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
    char detail[512];

    snprintf(detail, sizeof detail, " %s", new);
    trace("renameat", from, old, detail);
    return fails("renameat") ? -1 : NEXT(renameat)(from, old, to, new);
}

int flock(int fd, int operation)
{
    trace("flock", fd, NULL, operation & LOCK_UN ? " off" : " on");
    return fails("flock") ? -1 : NEXT(flock)(fd, operation);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd > 2) {
        trace("write", fd, NULL, "");
        if (fails("write"))
            return -1;
        /* The first write takes only one byte, so the caller must write the rest. */
        if (fails("short") && count > 1)
            count = 1;
    }
    return NEXT(write)(fd, bytes, count);
}

int openat(int fd, const char *name, int flags, ...)
{
    char detail[64];
    va_list list;
    int mode, wanted = O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    va_start(list, flags);
    mode = va_arg(list, int);
    va_end(list);
    snprintf(detail, sizeof detail, " %s %o", (flags & wanted) == wanted ? "new" : "any", mode);
    trace("openat", fd, name, detail);
    return NEXT(openat)(fd, name, flags, mode);
}
