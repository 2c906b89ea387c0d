/* Reads a small file for a plugin, because Embedded Swift has no module for the C library. */
#ifndef NEVOD_TOKEN_FILE_H
#define NEVOD_TOKEN_FILE_H

#include <stdint.h>

enum {
    NEVOD_TOKEN_FILE_READ = 0,
    NEVOD_TOKEN_FILE_MISSING = 1,
    /* This user may not read it, or may not enter one of its folders. */
    NEVOD_TOKEN_FILE_CLOSED = 2,
    /* A folder, a pipe, a device. */
    NEVOD_TOKEN_FILE_IRREGULAR = 3,
    /* It belongs neither to this user nor to root. See `owner`. */
    NEVOD_TOKEN_FILE_FOREIGN = 4,
    /* Users other than its owner may write it. See `mode`. */
    NEVOD_TOKEN_FILE_WRITABLE = 5,
    NEVOD_TOKEN_FILE_TOO_LARGE = 6,
    /* Another failure. See `error`. */
    NEVOD_TOKEN_FILE_FAILED = 7
};

typedef struct {
    int32_t status;
    /* An errno. */
    int32_t error;
    uint32_t owner;
    /* Permission bits. */
    uint32_t mode;
    /* The number of bytes that were read. */
    uint64_t count;
} nevod_token_file;

/* Reads a regular file of at most `capacity` bytes. Follows symbolic links. Never waits for anything that isn't a file. */
nevod_token_file nevod_token_file_read(const char *path, uint8_t *bytes, uint64_t capacity);

#endif
