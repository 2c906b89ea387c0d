#include "cpeers.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <string.h>

#define DIGEST_SIZE 32

static void write_hex(const uint8_t digest[DIGEST_SIZE], char out_hex[2 * DIGEST_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_SIZE; i++) {
        out_hex[2 * i] = digits[digest[i] >> 4];
        out_hex[2 * i + 1] = digits[digest[i] & 15];
    }
}

void *cpeers_hmac_new(const uint8_t *key, size_t count) {
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);  // the context holds its own reference
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (context == NULL || !EVP_MAC_init(context, key, count, parameters)) {
        EVP_MAC_CTX_free(context);
        return NULL;
    }
    return context;
}

void cpeers_hmac_free(void *context) {
    EVP_MAC_CTX_free(context);
}

int cpeers_hmac_hex(void *context, const uint8_t *message, size_t count, char out_hex[64]) {
    uint8_t digest[DIGEST_SIZE];
    size_t written;
    // Without a key, this restarts from the hashed inner pad, which saves two compressions, a fetch and the allocations.
    if (!EVP_MAC_init(context, NULL, 0, NULL) || !EVP_MAC_update(context, message, count)
        || !EVP_MAC_final(context, digest, &written, sizeof digest))
        return -1;
    write_hex(digest, out_hex);
    return 0;
}

struct sha256 {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
};

void *cpeers_sha256_new(void) {
    struct sha256 *sha256 = OPENSSL_zalloc(sizeof *sha256);
    if (sha256 == NULL)
        return NULL;
    // Each start would look up EVP_sha256() among the providers again.
    sha256->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    sha256->context = EVP_MD_CTX_new();
    if (sha256->algorithm == NULL || sha256->context == NULL) {
        cpeers_sha256_free(sha256);
        return NULL;
    }
    return sha256;
}

void cpeers_sha256_free(void *context) {
    struct sha256 *sha256 = context;
    if (sha256 == NULL)
        return;
    EVP_MD_CTX_free(sha256->context);
    EVP_MD_free(sha256->algorithm);
    OPENSSL_free(sha256);
}

int cpeers_sha256_hex(void *context, const uint8_t *message, size_t count, char out_hex[64]) {
    struct sha256 *sha256 = context;
    uint8_t digest[DIGEST_SIZE];
    if (!EVP_DigestInit_ex2(sha256->context, sha256->algorithm, NULL) || !EVP_DigestUpdate(sha256->context, message, count)
        || !EVP_DigestFinal_ex(sha256->context, digest, NULL))
        return -1;
    write_hex(digest, out_hex);
    return 0;
}

// A derived key is used once, so it goes straight to HMAC().
static const EVP_MD *chain_method(void) {
    static EVP_MD *method;
    if (method == NULL)
        method = EVP_MD_fetch(NULL, "SHA256", NULL);
    return method;
}

int cpeers_chain_hex(const uint8_t *key, size_t count, const char *const *parts, const uint8_t *canonical, size_t canonical_count,
                     const char *message_start, char out_hex[64]) {
    const EVP_MD *method = chain_method();
    uint8_t digest[DIGEST_SIZE];
    uint8_t next[DIGEST_SIZE];
    char message[256];
    for (int i = 0; i < 4; i++) {
        if (HMAC(method, i == 0 ? key : digest, i == 0 ? (int)count : DIGEST_SIZE, (const uint8_t *)parts[i], strlen(parts[i]), next, NULL)
            == NULL)
            return -1;
        memcpy(digest, next, sizeof digest);
    }
    size_t start = strlen(message_start);
    if (start > sizeof message - 2 * DIGEST_SIZE || !EVP_Digest(canonical, canonical_count, next, NULL, method, NULL))
        return -1;
    memcpy(message, message_start, start);
    write_hex(next, message + start);
    if (HMAC(method, digest, DIGEST_SIZE, (const uint8_t *)message, start + 2 * DIGEST_SIZE, next, NULL) == NULL)
        return -1;
    write_hex(next, out_hex);
    return 0;
}
