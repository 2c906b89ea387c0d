#include "openssl_exit.h"

#include <openssl/crypto.h>

/* Before main, since a later call has no effect: OpenSSL registers its clean-up when it is first used. This is needed
 * under AddressSanitizer too: a thread that ends after the clean-up doesn't free what OpenSSL keeps for it, which counts as a
 * leak. */
__attribute__((constructor)) static void keep_openssl_at_exit(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
