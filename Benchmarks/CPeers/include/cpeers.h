// The peers that the benchmarks compare NevodHost with, each written as a careful C programmer would, and a counter of allocations.
// Our figures are only reported as ratios to a peer, measured in the same run on the same machine. Linux with glibc only: the
// counter forwards to glibc's allocator, the event loop is epoll.
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

// SHA-256 on a kept context with an algorithm fetched once. The same rules apply.
void *_Nullable cpeers_sha256_new(void);
void cpeers_sha256_free(void *_Nullable context);
int cpeers_sha256_hex(void *context, const uint8_t *_Nullable message, size_t count, char out_hex[_Nonnull 64]);

// A signature like AWS Signature Version 4: a key derived in four steps, the hash of a canonical request, and the HMAC of both in
// one message. `key` is the key of the first step. 0 on success.
int cpeers_chain_hex(const uint8_t *_Nonnull key, size_t count, const char *_Nullable const *_Nullable parts,
                     const uint8_t *_Nonnull canonical, size_t canonical_count, const char *_Nonnull message_start,
                     char out_hex[_Nonnull 64]);

// A signature with a key made for it, verified again and again. The key, the algorithm and the context are ready; each verification
// is EVP_DigestVerifyInit and EVP_DigestVerify, or the same for HMAC. One thread at a time may use it.
enum { CPEERS_HS256 = 0, CPEERS_RS256 = 1, CPEERS_ES256 = 2, CPEERS_ED25519 = 3 };

typedef struct cpeers_signature cpeers_signature;

// Signs a message. Only HMAC uses the secret. NULL when libcrypto refuses.
cpeers_signature *_Nullable cpeers_signature_new(
    int algorithm, const uint8_t *secret, size_t secret_size, const uint8_t *message, size_t count);
void cpeers_signature_free(cpeers_signature *_Nullable signature);

// Writes the signature in a token's form, and returns its size; 0 when libcrypto refuses.
size_t cpeers_signature_bytes(cpeers_signature *signature, uint8_t out[_Nonnull 512]);

// Writes the public key without a terminator, and returns its size; 0 when it doesn't fit.
size_t cpeers_signature_pem(cpeers_signature *signature, char *out, size_t size);

// Returns 1 if the signature belongs to the message, 0 if not.
int cpeers_signature_verify(cpeers_signature *signature, const uint8_t *message, size_t count);

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
// Everything happens on the calling thread, so cpeers_allocations() counts libcurl's allocations.
cpeers_libcurl *_Nullable cpeers_libcurl_open(const char *url, int concurrency, int loop, size_t expected_body);

// Makes `requests` requests, `concurrency` at a time, checks every response, and stores the time they took.
// May be called again, to alternate with the client it is compared to. After a failure, only closing is allowed.
int cpeers_libcurl_measure(cpeers_libcurl *client, long requests, double *seconds);

void cpeers_libcurl_close(cpeers_libcurl *_Nullable client);

// Opens a client, makes one unmeasured request on each handle so that no connection is opened while the clock runs, measures, and
// closes it.
int cpeers_libcurl_run(
    const char *url, int concurrency, long requests, int loop, size_t expected_body, double *seconds);

/* The nevod_plugin of a scheme that takes a second for each request, and declares that it blocks. */
const void *cpeers_slow_plugin(void);

#ifdef __cplusplus
}
#endif

#pragma clang assume_nonnull end

#endif
