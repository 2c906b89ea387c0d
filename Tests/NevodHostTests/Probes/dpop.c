/* DPoP (RFC 9449) with a server's nonce: the proof's key and the access token are settings, the state is the last nonce. */
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>

#include "probe.h"

PROBE_SETTING(key_setting, "key", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
PROBE_SETTING(token_setting, "access-token", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
static const nevod_setting *const settings[] = { &key_setting, &token_setting };

typedef struct holder {
    EVP_PKEY *key;
    char access_token[2048];
    text head; /* every proof's header, which contains the public key, encoded */
    text token_hash;
} holder;

static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_STATE | NEVOD_NEED_RANDOM,
};

static const nevod_needs *needs(void *instance) {
    (void)instance;
    return &needs_table;
}

static void destroy(void *instance) {
    holder *holder = instance;
    EVP_PKEY_free(holder->key);
    OPENSSL_cleanse(holder, sizeof *holder);
    free(holder);
}

static int make_head(holder *holder) {
    uint8_t point[65];
    size_t count = 0;
    if (EVP_PKEY_get_octet_string_param(holder->key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, point, sizeof point, &count) != 1 ||
        count != sizeof point || point[0] != 4)
        return 0;
    text json;
    clear(&json);
    put_text(&json, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"");
    put_base64url(&json, point + 1, 32), put_text(&json, "\",\"y\":\"");
    put_base64url(&json, point + 33, 32), put_text(&json, "\"}}");
    put_base64url(&holder->head, (const uint8_t *)json.data, json.count);
    uint8_t digest[32];
    if (EVP_Q_digest(NULL, "SHA256", NULL, holder->access_token, strlen(holder->access_token), digest, NULL) != 1) return 0;
    put_base64url(&holder->token_hash, digest, sizeof digest);
    return !json.is_cut;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    holder *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    const nevod_bytes pem = value_of(values, count, "key");
    BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.count);
    made->key = memory ? PEM_read_bio_PrivateKey(memory, NULL, NULL, NULL) : NULL;
    BIO_free(memory);
    if (!made->key || !copy(made->access_token, sizeof made->access_token, value_of(values, count, "access-token")) ||
        !make_head(made)) {
        destroy(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "key", "not a P-256 key in PEM");
    }
    *instance = made;
    return NEVOD_OK;
}

/* ES256 requires both numbers concatenated, 32 bytes each (RFC 7518 §3.4). libcrypto returns them in DER. */
static int sign(EVP_PKEY *key, const text *message, uint8_t signature[64]) {
    uint8_t der[256];
    size_t count = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int is_signed = context && EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL) == 1 &&
        EVP_DigestSign(context, der, &count, (const uint8_t *)message->data, message->count) == 1;
    EVP_MD_CTX_free(context);
    const uint8_t *start = der;
    ECDSA_SIG *pair = is_signed ? d2i_ECDSA_SIG(NULL, &start, (long)count) : NULL;
    is_signed = pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32 &&
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
    ECDSA_SIG_free(pair);
    return is_signed;
}

static void put_json_text(text *to, nevod_bytes value) {
    put_text(to, "\"");
    for (uint64_t i = 0; i < value.count; i++) {
        if (value.data[i] < 0x20) print(to, "\\u%04x", value.data[i]);
        else {
            if (value.data[i] == '"' || value.data[i] == '\\') put_text(to, "\\");
            put(to, value.data + i, 1);
        }
    }
    put_text(to, "\"");
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const holder *holder = instance;
    text address, claims, proof, header;
    clear(&address), clear(&claims), clear(&proof), clear(&header);
    put_bytes(&address, view->scheme), put_text(&address, "://"), put_bytes(&address, view->authority);
    uint64_t end = 0;
    while (end < view->target.count && view->target.data[end] != '?') end++;
    put(&address, view->target.data, end);

    put_text(&claims, "{\"jti\":\""), put_base64url(&claims, view->random.data, 16);
    put_text(&claims, "\",\"htm\":"), put_json_text(&claims, view->method);
    put_text(&claims, ",\"htu\":"), put_json_text(&claims, bytes_of(&address));
    print(&claims, ",\"iat\":%lld,\"ath\":\"%s\"", (long long)(view->unix_time_ns / 1000000000), holder->token_hash.data);
    if (view->state.count > 0) put_text(&claims, ",\"nonce\":"), put_json_text(&claims, view->state);
    put_text(&claims, "}");

    put_bytes(&proof, bytes_of(&holder->head)), put_text(&proof, ".");
    put_base64url(&proof, (const uint8_t *)claims.data, claims.count);
    uint8_t signature[64];
    if (address.is_cut || claims.is_cut || proof.is_cut || !sign(holder->key, &proof, signature))
        return fail(errors, NEVOD_UNSUPPORTED, "", "the proof can't be made");
    put_text(&proof, "."), put_base64url(&proof, signature, sizeof signature);
    print(&header, "DPoP %s", holder->access_token);
    edits->set_header(edits->host, bytes("Authorization"), bytes_of(&header));
    edits->set_header(edits->host, bytes("DPoP"), bytes_of(&proof));
    return NEVOD_OK;
}

/* Any response may have a nonce (RFC 9449 §8.2). The request is retried only if the response rejects the proof's nonce. */
static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)instance, (void)token, (void)request, (void)errors;
    const nevod_bytes nonce = header_of(response, "DPoP-Nonce");
    if (nonce.count == 0 || actions->set_state(actions->host, nonce) != NEVOD_OK) return NEVOD_VERDICT_NOTHING;
    text challenge;
    clear(&challenge);
    put_bytes(&challenge, header_of(response, "WWW-Authenticate"));
    const int wants_nonce = response->status == 401 && strstr(challenge.data, "use_dpop_nonce");
    return wants_nonce ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_STATE_CHANGED;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .flags = NEVOD_SCHEME_NONDETERMINISTIC, /* ECDSA uses a random number */
    .id = NEVOD_BYTES("dpop"),
    .title = NEVOD_BYTES("DPoP"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
    .on_response = on_response,
};
PROBE_PLUGIN("DPoP", scheme)
