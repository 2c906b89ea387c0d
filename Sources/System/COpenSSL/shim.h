#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Macros of macros, which Swift doesn't import. */
static inline int nevod_evp_pkey_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int nevod_evp_pkey_keypair(void) { return EVP_PKEY_KEYPAIR; }
