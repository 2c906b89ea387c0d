#include "cpeers.h"

#include <openssl/bn.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

struct cpeers_signature {
    EVP_PKEY *key;
    EVP_MD *digest;  // NULL for Ed25519
    EVP_MD_CTX *context;
    EVP_MAC_CTX *mac;  // for HMAC, instead of the fields above
    uint8_t bytes[512];
    size_t count;
    int coordinate;  // for ECDSA
};

static int begin(cpeers_signature *signature, int signs) {
    return signs ? EVP_DigestSignInit(signature->context, NULL, signature->digest, NULL, signature->key)
                 : EVP_DigestVerifyInit(signature->context, NULL, signature->digest, NULL, signature->key);
}

static int make_mac(cpeers_signature *signature, const uint8_t *secret, size_t size) {
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    signature->mac = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return signature->mac != NULL && EVP_MAC_init(signature->mac, secret, size, parameters);
}

cpeers_signature *cpeers_signature_new(
    int algorithm, const uint8_t *secret, size_t secret_size, const uint8_t *message, size_t count) {
    cpeers_signature *signature = OPENSSL_zalloc(sizeof *signature);
    if (signature == NULL)
        return NULL;
    signature->count = sizeof signature->bytes;
    int done = 0;
    if (algorithm == CPEERS_HS256) {
        done = make_mac(signature, secret, secret_size) && EVP_MAC_init(signature->mac, NULL, 0, NULL)
            && EVP_MAC_update(signature->mac, message, count)
            && EVP_MAC_final(signature->mac, signature->bytes, &signature->count, sizeof signature->bytes);
    } else {
        signature->key = algorithm == CPEERS_RS256 ? EVP_RSA_gen(2048)
            : algorithm == CPEERS_ES256            ? EVP_EC_gen("P-256")
                                                   : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        signature->coordinate = algorithm == CPEERS_ES256 ? 32 : 0;
        signature->context = EVP_MD_CTX_new();
        // Fetched once: each start would look up EVP_sha256() among the providers again.
        signature->digest = algorithm == CPEERS_ED25519 ? NULL : EVP_MD_fetch(NULL, "SHA256", NULL);
        done = signature->key != NULL && signature->context != NULL && begin(signature, 1)
            && EVP_DigestSign(signature->context, signature->bytes, &signature->count, message, count);
        // Another operation needs another context.
        EVP_MD_CTX_free(signature->context);
        signature->context = EVP_MD_CTX_new();
    }
    if (done)
        return signature;
    cpeers_signature_free(signature);
    return NULL;
}

void cpeers_signature_free(cpeers_signature *signature) {
    if (signature == NULL)
        return;
    EVP_PKEY_free(signature->key);
    EVP_MD_free(signature->digest);
    EVP_MD_CTX_free(signature->context);
    EVP_MAC_CTX_free(signature->mac);
    OPENSSL_free(signature);
}

size_t cpeers_signature_bytes(cpeers_signature *signature, uint8_t out[512]) {
    if (signature->coordinate == 0) {
        memcpy(out, signature->bytes, signature->count);
        return signature->count;
    }
    const uint8_t *next = signature->bytes;
    ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &next, (long)signature->count);
    if (numbers == NULL)
        return 0;
    BN_bn2binpad(ECDSA_SIG_get0_r(numbers), out, signature->coordinate);
    BN_bn2binpad(ECDSA_SIG_get0_s(numbers), out + signature->coordinate, signature->coordinate);
    ECDSA_SIG_free(numbers);
    return 2 * (size_t)signature->coordinate;
}

size_t cpeers_signature_pem(cpeers_signature *signature, char *out, size_t size) {
    BIO *memory = BIO_new(BIO_s_mem());
    int count = memory != NULL && PEM_write_bio_PUBKEY(memory, signature->key) ? BIO_read(memory, out, (int)size) : 0;
    BIO_free(memory);
    return count > 0 ? (size_t)count : 0;
}

int cpeers_signature_verify(cpeers_signature *signature, const uint8_t *message, size_t count) {
    if (signature->mac != NULL) {
        uint8_t code[64];
        size_t written;
        if (!EVP_MAC_init(signature->mac, NULL, 0, NULL) || !EVP_MAC_update(signature->mac, message, count)
            || !EVP_MAC_final(signature->mac, code, &written, sizeof code))
            return 0;
        return written == signature->count && CRYPTO_memcmp(code, signature->bytes, written) == 0;
    }
    return begin(signature, 0)
        && EVP_DigestVerify(signature->context, signature->bytes, signature->count, message, count) == 1;
}
