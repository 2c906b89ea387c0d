#include "openssl_exit.h"

#include <openssl/crypto.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LOOKS_FOR_LEAKS
#endif
#endif

/* The sanitizer would take what OpenSSL doesn't free for leaks, and can't tell it from leaks of ours. */
#ifndef LOOKS_FOR_LEAKS
/* Before main, since a later call has no effect: OpenSSL registers its clean-up when it is first used. */
__attribute__((constructor)) static void keep_openssl_at_exit(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
#endif
