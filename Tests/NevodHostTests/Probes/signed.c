/* HTTP Message Signatures (RFC 9421) with hmac-sha256. Signs the request, and requires a signed response. Each signature covers the
 * digest of the body (RFC 9530). */
#include "probe.h"

PROBE_SETTING(key_id_setting, "key-id", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(secret_setting, "secret", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
static const nevod_setting *const settings[] = { &key_id_setting, &secret_setting };

typedef struct key {
    char id[256], secret[256];
} key;

static const nevod_bytes digest_names[] = { NEVOD_BYTES("sha-256") };
static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES,
    .digests = digest_names,
    .digest_count = 1,
    .response_digests = digest_names,
    .response_digest_count = 1,
};

static const nevod_needs *needs(void *instance) {
    (void)instance;
    return &needs_table;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    key *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->id, sizeof made->id, value_of(values, count, "key-id")) ||
        !copy(made->secret, sizeof made->secret, value_of(values, count, "secret"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "secret", "longer than 255 bytes");
    }
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(key));
    free(instance);
}

static void sign(const key *with, const text *base, text *signature) {
    uint8_t mac[32];
    hmac_sha256(mac, with->secret, strlen(with->secret), base->data, base->count);
    put_base64(signature, mac, sizeof mac);
}

static void put_target_uri(text *to, const nevod_view *view) {
    put_bytes(to, view->scheme), put_text(to, "://"), put_bytes(to, view->authority), put_bytes(to, view->target);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const key *key = instance;
    text base, parameters, field, signature;
    clear(&base), clear(&parameters), clear(&field), clear(&signature);
    if (view->body_kind != NEVOD_BODY_NONE && view->digest_count == 0)
        return fail(errors, NEVOD_UNSUPPORTED, "", "the body can be read only once, so that its digest is unknown");
    put_text(&base, "\"@method\": "), put_bytes(&base, view->method);
    put_text(&base, "\n\"@target-uri\": "), put_target_uri(&base, view), put_text(&base, "\n");
    put_text(&parameters, "(\"@method\" \"@target-uri\"");
    if (view->digest_count > 0) {
        put_text(&field, "sha-256=:"), put_base64(&field, view->digests[0].value.data, view->digests[0].value.count);
        put_text(&field, ":");
        put_text(&parameters, " \"content-digest\"");
        put_text(&base, "\"content-digest\": "), put_bytes(&base, bytes_of(&field)), put_text(&base, "\n");
        edits->set_header(edits->host, bytes("Content-Digest"), bytes_of(&field));
    }
    print(&parameters, ");created=%lld;keyid=\"%s\";alg=\"hmac-sha256\"", (long long)(view->unix_time_ns / 1000000000), key->id);
    put_text(&base, "\"@signature-params\": "), put_bytes(&base, bytes_of(&parameters));
    sign(key, &base, &signature);
    if (base.is_cut || parameters.is_cut) return fail(errors, NEVOD_UNSUPPORTED, "", "the request's target is too long");

    clear(&field), put_text(&field, "sig="), put_bytes(&field, bytes_of(&parameters));
    edits->set_header(edits->host, bytes("Signature-Input"), bytes_of(&field));
    clear(&field), put_text(&field, "sig=:"), put_bytes(&field, bytes_of(&signature)), put_text(&field, ":");
    edits->set_header(edits->host, bytes("Signature"), bytes_of(&field));
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The response.                                                                                                      */

/* The value of one covered component (§2.2, §2.4). */
static int put_component(text *to, const char *name, int is_of_request, const nevod_view *request, const nevod_response *response) {
    if (is_of_request && strcmp(name, "@method") == 0) return put_bytes(to, request->method), 1;
    if (is_of_request && strcmp(name, "@target-uri") == 0) return put_target_uri(to, request), 1;
    if (is_of_request) return 0;
    if (strcmp(name, "@status") == 0) return print(to, "%d", response->status), 1;
    const nevod_bytes value = header_of(response, name);
    put_bytes(to, value);
    return value.count > 0;
}

/* Rebuilds the signature's base from `"name";req "name" …);…`, the value of Signature-Input after `sig=(`. */
static int read_input(const char *input, const nevod_view *request, const nevod_response *response, text *base, int *has_status,
                      int *has_digest) {
    const char *at = input;
    while (*at && *at != ')') {
        char name[128];
        int count = 0;
        if (*at == ' ') at++;
        if (sscanf(at, "\"%127[^\"]\"%n", name, &count) != 1 || count == 0) return 0;
        at += count;
        const int is_of_request = strncmp(at, ";req", 4) == 0;
        if (is_of_request) at += 4;
        print(base, "\"%s\"%s: ", name, is_of_request ? ";req" : "");
        if (!put_component(base, name, is_of_request, request, response)) return 0;
        put_text(base, "\n");
        *has_status |= strcmp(name, "@status") == 0 && !is_of_request;
        *has_digest |= strcmp(name, "content-digest") == 0 && !is_of_request;
    }
    print(base, "\"@signature-params\": (%s", input);
    return *at == ')' && !base->is_cut;
}

static int32_t refuse(const nevod_errors *errors, const char *why) {
    fail(errors, NEVOD_OK, "Signature", why);
    return NEVOD_VERDICT_REFUSE;
}

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token, (void)actions;
    char input[2048], given[128], digest[128];
    if (!copy(input, sizeof input, header_of(response, "Signature-Input")) || strncmp(input, "sig=(", 5) != 0 ||
        !copy(given, sizeof given, header_of(response, "Signature")))
        return refuse(errors, "the response is not signed");
    text base, wanted;
    clear(&base), clear(&wanted);
    int has_status = 0, has_digest = 0;
    if (!read_input(input + 5, request, response, &base, &has_status, &has_digest) || !has_status)
        return refuse(errors, "it doesn't cover what it has to");
    put_text(&wanted, "sig=:"), sign(instance, &base, &wanted), put_text(&wanted, ":");
    if (strlen(given) != wanted.count || CRYPTO_memcmp(given, wanted.data, wanted.count) != 0)
        return refuse(errors, "it doesn't match the response");
    if (response->digest_count == 0) return refuse(errors, "the body is unknown");
    clear(&wanted), put_text(&wanted, "sha-256=:");
    put_base64(&wanted, response->digests[0].value.data, response->digests[0].value.count), put_text(&wanted, ":");
    if (!has_digest || !copy(digest, sizeof digest, header_of(response, "Content-Digest")) || strcmp(digest, wanted.data) != 0)
        return refuse(errors, "the body is not the one that was signed");
    return NEVOD_VERDICT_NOTHING;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("signed"),
    .title = NEVOD_BYTES("HTTP Message Signatures"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
    .on_response = on_response,
};
PROBE_PLUGIN("Signed", scheme)
