#define _GNU_SOURCE
#include "token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static nevod_token_file failed(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR: return (nevod_token_file){.status = NEVOD_TOKEN_FILE_MISSING, .error = error};
    case EACCES:
    case EPERM: return (nevod_token_file){.status = NEVOD_TOKEN_FILE_CLOSED, .error = error};
    /* A socket, or a device without a driver. */
    case ENXIO: return (nevod_token_file){.status = NEVOD_TOKEN_FILE_IRREGULAR, .error = error};
    default: return (nevod_token_file){.status = NEVOD_TOKEN_FILE_FAILED, .error = error};
    }
}

/* The file is too large if one more byte follows, whatever its size was when it was opened. */
static nevod_token_file read_all(int file, uint8_t *bytes, uint64_t capacity, nevod_token_file found) {
    int interruptions = 0;
    for (;;) {
        uint8_t further;
        int isFull = found.count == capacity;
        ssize_t count = read(file, isFull ? &further : bytes + found.count, isFull ? 1 : capacity - found.count);
        if (count == 0) return found;
        if (count < 0) {
            if (errno == EINTR && ++interruptions < 100) continue;
            return failed(errno);
        }
        if (isFull) {
            found.status = NEVOD_TOKEN_FILE_TOO_LARGE;
            return found;
        }
        found.count += (uint64_t)count;
    }
}

nevod_token_file nevod_token_file_read(const char *path, uint8_t *bytes, uint64_t capacity) {
    /* Without O_NONBLOCK, a pipe without a writer would block the caller. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) return failed(errno);
    nevod_token_file found = {.status = NEVOD_TOKEN_FILE_READ};
    struct stat status;
    /* glibc exports fstat only since 2.33, so using it would keep a plugin off older systems. */
    if (syscall(SYS_fstat, file, &status) != 0) {
        found = failed(errno);
    } else {
        found.owner = status.st_uid;
        found.mode = status.st_mode & 07777;
        if (!S_ISREG(status.st_mode))
            found.status = NEVOD_TOKEN_FILE_IRREGULAR;
        else if (status.st_uid != 0 && status.st_uid != geteuid())
            found.status = NEVOD_TOKEN_FILE_FOREIGN;
        else if (status.st_mode & (S_IWGRP | S_IWOTH))
            found.status = NEVOD_TOKEN_FILE_WRITABLE;
        else
            found = read_all(file, bytes, capacity, found);
    }
    close(file);
    return found;
}
