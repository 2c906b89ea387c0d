// What the benchmarks measure NevodHost against, each written as a careful C programmer would, and a counter of allocations.
// A figure of ours is only ever reported as a ratio to one of these, taken in the same run on the same machine.
// Linux with glibc only: the counter forwards to glibc's allocator, the event loop is epoll.
#ifndef CPEERS_H
#define CPEERS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

#ifdef __cplusplus
extern "C" {
#endif

// ---- libcrypto ----------------------------------------------------------------------------------------------------------------

// HMAC-SHA256 on a kept context: the key schedule is computed once. NULL when libcrypto refuses.
// One thread at a time may use a context; the key is copied.
void *_Nullable cpeers_hmac_new(const uint8_t *key, size_t count);
void cpeers_hmac_free(void *_Nullable context);

// Writes 64 lower-case hexadecimal digits and no terminator. 0, or -1 when libcrypto refuses.
int cpeers_hmac_hex(void *context, const uint8_t *_Nullable message, size_t count, char out_hex[_Nonnull 64]);

// SHA-256 on a kept context with an algorithm fetched once. The same rules.
void *_Nullable cpeers_sha256_new(void);
void cpeers_sha256_free(void *_Nullable context);
int cpeers_sha256_hex(void *context, const uint8_t *_Nullable message, size_t count, char out_hex[_Nonnull 64]);

// ---- Allocations --------------------------------------------------------------------------------------------------------------

// How often the calling thread has asked the allocator for memory since it began: malloc, calloc, realloc, posix_memalign,
// aligned_alloc and memalign, from any library. The difference of two calls is the number of allocations between them.
// Always 0 under a sanitizer, which needs the allocator for itself.
uint64_t cpeers_allocations(void);

// ---- libcurl ------------------------------------------------------------------------------------------------------------------

enum {
    // curl_multi_perform and curl_multi_poll: what most programs do.
    CPEERS_LOOP_PERFORM = 0,
    // curl_multi_socket_action with epoll and a timer callback: what an event-driven program does.
    CPEERS_LOOP_SOCKET_ACTION = 1,
};

// A result above zero is the CURLcode of the transfer that failed: curl_easy_strerror() names it.
enum {
    CPEERS_OK = 0,
    CPEERS_SETUP = -1,     // out of memory or file descriptors, or an argument out of range
    CPEERS_MULTI = -2,     // the multi interface or epoll refused a call
    CPEERS_RESPONSE = -3,  // a response was not the expected one: status 200, HTTP/1.1, a body of the expected length
    CPEERS_DEADLINE = -4,  // not done after 60 seconds
};

typedef struct cpeers_libcurl cpeers_libcurl;

// A client of one URL with `concurrency` easy handles, all kept and reused, as are their connections. NULL when out of resources.
// Everything happens on the thread that calls; cpeers_allocations() therefore sees what libcurl allocates.
cpeers_libcurl *_Nullable cpeers_libcurl_open(const char *url, int concurrency, int loop, size_t expected_body);

// Makes `requests` requests, `concurrency` at a time, checks every response, and stores the time they took.
// May be called again, to alternate with what it is compared to; after a failure only closing is allowed.
int cpeers_libcurl_measure(cpeers_libcurl *client, long requests, double *seconds);

void cpeers_libcurl_close(cpeers_libcurl *_Nullable client);

// Open, one unmeasured request on each handle so that no connection is opened while the clock runs, measure, close.
int cpeers_libcurl_run(
    const char *url, int concurrency, long requests, int loop, size_t expected_body, double *seconds);

/* A plugin with a scheme that takes a second for each request, and says that it blocks: its nevod_plugin. */
const void *cpeers_slow_plugin(void);

#ifdef __cplusplus
}
#endif

#pragma clang assume_nonnull end

#endif
