/*
 * An HMAC request signature, as a NevodHost plugin in C. From the root of the repository:
 *
 * cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wl,-z,defs -ISources/NevodPluginABI/include Examples/c-hmac/hmac.c \
 *     -lcrypto -o libHMACAuthC.so
 *
 * It signs METHOD \n PATH \n TIMESTAMP \n BODYHASH and sends X-API-Key, X-Timestamp and X-Signature. It has no token:
 * its settings are its credential. Needs OpenSSL 3. Part of NevodHost. MIT licence.
 */
#include "nevod_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#define DIGEST_SIZE 32
#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))

static int equal(nevod_bytes a, nevod_bytes b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, (size_t)a.count) == 0);
}

static nevod_bytes find(const nevod_pair *pairs, uint32_t count, nevod_bytes name)
{
    for (uint32_t i = 0; i < count; i++)
        if (equal(pairs[i].name, name))
            return pairs[i].value;
    return (nevod_bytes){NULL, 0};
}

/* `out` takes two characters for each byte, and no terminator. */
static nevod_bytes hex(nevod_bytes bytes, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    for (uint64_t i = 0; i < bytes.count; i++) {
        out[2 * i] = (uint8_t)digits[bytes.data[i] >> 4];
        out[2 * i + 1] = (uint8_t)digits[bytes.data[i] & 15];
    }
    return (nevod_bytes){out, 2 * bytes.count};
}

static int32_t fail(const nevod_errors *errors, int32_t status, nevod_bytes subject, nevod_bytes message)
{
    errors->report(errors->host, subject, message, (nevod_bytes){NULL, 0});
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* An instance. Nothing in it changes after `create`, so any number of threads may read it without a lock.            */

typedef struct instance {
    EVP_MAC_CTX *keyed; /* the only copy of the secret; never updated, only duplicated */
    uint64_t api_key_count;
    uint8_t api_key[];
} instance;

static EVP_MAC_CTX *keyed_context(nevod_bytes secret)
{
    char sha256[] = "SHA256"; /* OpenSSL's parameters point to mutable text */
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = mac == NULL ? NULL : EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac); /* the context holds its own reference */
    if (context != NULL && EVP_MAC_init(context, secret.data, (size_t)secret.count, parameters) != 1) {
        EVP_MAC_CTX_free(context);
        return NULL;
    }
    return context;
}

static void destroy(void *pointer)
{
    instance *self = pointer;
    EVP_MAC_CTX_free(self->keyed); /* calls OPENSSL_cleanse on the secret and on the states derived from it */
    free(self);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme;
    (void)host;
    nevod_bytes api_key = find(values, value_count, TEXT("api-key"));
    nevod_bytes secret = find(values, value_count, TEXT("secret"));
    if (api_key.count == 0)
        return fail(errors, NEVOD_BAD_SETTINGS, TEXT("api-key"), TEXT("the key id is empty"));
    if (secret.count == 0)
        return fail(errors, NEVOD_BAD_SETTINGS, TEXT("secret"), TEXT("the secret is empty"));

    instance *self = malloc(sizeof *self + (size_t)api_key.count);
    if (self == NULL)
        return fail(errors, NEVOD_INTERNAL, TEXT(""), TEXT("out of memory"));
    self->api_key_count = api_key.count;
    memcpy(self->api_key, api_key.data, (size_t)api_key.count);
    self->keyed = keyed_context(secret);
    if (self->keyed == NULL) {
        free(self);
        return fail(errors, NEVOD_INTERNAL, TEXT(""), TEXT("OpenSSL could not set up HMAC-SHA256"));
    }
    *out = self;
    return NEVOD_OK;
}

static const nevod_needs *needs(void *pointer)
{
    static const nevod_bytes digests[] = {NEVOD_BYTES("sha-256")};
    static const nevod_needs answer = {.struct_size = sizeof answer, .digests = digests, .digest_count = 1};
    (void)pointer;
    return &answer;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The signature.                                                                                                    */

/* HMAC over the parts, with a line feed between them. */
static int sign(const instance *self, const nevod_bytes *parts, size_t count, uint8_t mac[DIGEST_SIZE])
{
    /* A context is mutable, so each call works on its own copy. It is cheaper than keying a new one. */
    EVP_MAC_CTX *context = EVP_MAC_CTX_dup(self->keyed);
    int ok = context != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        if (i > 0)
            ok = EVP_MAC_update(context, (const uint8_t *)"\n", 1) == 1;
        if (ok && parts[i].count > 0)
            ok = EVP_MAC_update(context, parts[i].data, (size_t)parts[i].count) == 1;
    }
    size_t size = 0;
    ok = ok && EVP_MAC_final(context, mac, &size, DIGEST_SIZE) == 1 && size == DIGEST_SIZE;
    EVP_MAC_CTX_free(context);
    return ok;
}

static nevod_bytes without_query(nevod_bytes target)
{
    for (uint64_t i = 0; i < target.count; i++)
        if (target.data[i] == '?')
            target.count = i;
    return target;
}

static int32_t authorize(void *pointer, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    const instance *self = pointer;
    (void)token;

    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return fail(errors, NEVOD_UNSUPPORTED, TEXT(""), TEXT("signs requests to origins only"));

    uint8_t body_text[2 * DIGEST_SIZE];
    nevod_bytes body_hash = {NULL, 0};
    if (view->body_kind < NEVOD_BODY_NONE || view->body_kind > NEVOD_BODY_STREAM)
        return fail(errors, NEVOD_UNSUPPORTED, TEXT(""), TEXT("can't sign a body of this kind"));
    if (view->body_kind != NEVOD_BODY_NONE) {
        nevod_bytes digest = find(view->digests, view->digest_count, TEXT("sha-256"));
        if (digest.count != DIGEST_SIZE)
            return fail(errors, NEVOD_UNSUPPORTED, TEXT(""),
                        TEXT("the body has no sha-256 digest to sign: it can be read only once"));
        body_hash = hex(digest, body_text);
    }

    char time_text[24];
    int time_count = snprintf(time_text, sizeof time_text, "%" PRId64, view->unix_time_ns / 1000000000);
    if (time_count <= 0 || (size_t)time_count >= sizeof time_text)
        return fail(errors, NEVOD_INTERNAL, TEXT(""), TEXT("could not write the time as text"));
    nevod_bytes timestamp = {(const uint8_t *)time_text, (uint64_t)time_count};

    const nevod_bytes parts[] = {view->method, without_query(view->target), timestamp, body_hash};
    uint8_t mac[DIGEST_SIZE], signature[2 * DIGEST_SIZE];
    if (!sign(self, parts, sizeof parts / sizeof parts[0], mac))
        return fail(errors, NEVOD_INTERNAL, TEXT(""), TEXT("OpenSSL could not compute the signature"));

    /* The results can be ignored: if the host rejects an edit, it fails the call itself. */
    edits->set_header(edits->host, TEXT("X-API-Key"), (nevod_bytes){self->api_key, self->api_key_count});
    edits->set_header(edits->host, TEXT("X-Timestamp"), timestamp);
    edits->set_header(edits->host, TEXT("X-Signature"), hex((nevod_bytes){mac, DIGEST_SIZE}, signature));
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* What this library offers.                                                                                         */

static const nevod_setting api_key_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REQUIRED,
    .name = NEVOD_BYTES("api-key"), .help = NEVOD_BYTES("Key id, sent in X-API-Key"),
};
static const nevod_setting secret_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT,
    .flags = NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET,
    .name = NEVOD_BYTES("secret"), .help = NEVOD_BYTES("Shared key of the signature"),
};
static const nevod_setting *const settings[] = {&api_key_setting, &secret_setting};

static const nevod_scheme hmac_scheme = {
    .struct_size = sizeof(nevod_scheme), .id = NEVOD_BYTES("hmac"), .title = NEVOD_BYTES("HMAC request signature (C)"),
    .settings = settings, .setting_count = 2,
    .create = create, .destroy = destroy, .needs = needs, .authorize = authorize,
};
static const nevod_scheme *const schemes[] = {&hmac_scheme};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
        .scheme_count = 1, .schemes = schemes,
        .name = NEVOD_BYTES("HMACAuthC"), .version = NEVOD_BYTES("1.0.0"), .vendor = NEVOD_BYTES("NevodHost"),
    };
    return &plugin;
}
