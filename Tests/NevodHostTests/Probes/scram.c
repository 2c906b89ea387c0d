/* SCRAM-SHA-256 over HTTP (RFC 7804). Requires the server's signature. The first attempt carries the client's first message. The
 * response to it, a 401, gives the state for the second. Deriving the key takes milliseconds, so the scheme blocks. */
#define _GNU_SOURCE
#include "probe.h"

PROBE_SETTING(username_setting, "username", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(password_setting, "password", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
static const nevod_setting *const settings[] = { &username_setting, &password_setting };

enum { DIGEST = 32, MOST_ITERATIONS = 1000000 };

typedef struct account {
    char username[128], password[256];
} account;

static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_HEADERS | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE |
             NEVOD_NEED_USE_COUNT,
};

static const nevod_needs *needs(void *instance) {
    (void)instance;
    return &needs_table;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    account *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->username, sizeof made->username, value_of(values, count, "username")) || strpbrk(made->username, ",=") ||
        !copy(made->password, sizeof made->password, value_of(values, count, "password"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "username", "too long, or with a comma or an equals sign");
    }
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(account));
    free(instance);
}

/* A field's `data=…` and `sid=…`, decoded and raw. */
static int read_field(nevod_bytes line, char *data, size_t data_size, char *sid, size_t sid_size) {
    char copied[2048];
    if (!copy(copied, sizeof copied, line) || strncmp(copied, "SCRAM-SHA-256 ", 14) != 0) return 0;
    data[0] = sid[0] = 0;
    for (char *rest = copied + 14, *part; (part = strtok_r(rest, ", ", &rest));) {
        if (strncmp(part, "sid=", 4) == 0) copy(sid, sid_size, bytes(part + 4));
        if (strncmp(part, "data=", 5) != 0) continue;
        const int count = from_base64((uint8_t *)data, data_size - 1, part + 5, strlen(part + 5));
        if (count < 0) return 0;
        data[count] = 0;
    }
    return data[0] != 0;
}

/* The value of `name=…` in a message of SCRAM (RFC 5802 §7). */
static int attribute(const char *message, char name, char *value, size_t size) {
    for (const char *at = message; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (at[0] != name || at[1] != '=') continue;
        return copy(value, size, (nevod_bytes){ (const uint8_t *)at + 2, strcspn(at + 2, ",") });
    }
    return 0;
}

/* The state: the session's id, the client's final message and the server's expected signature, each on a line. */
static int read_state(nevod_bytes state, char *sid, size_t sid_size, char *final, size_t final_size, char *expected, size_t size) {
    char copied[2048];
    if (!copy(copied, sizeof copied, state)) return 0;
    char *rest = copied, *first = strsep(&rest, "\n"), *second = strsep(&rest, "\n");
    return first && second && rest && copy(sid, sid_size, bytes(first)) && copy(final, final_size, bytes(second)) &&
           copy(expected, size, bytes(rest));
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const account *account = instance;
    char sid[128], final[1024], expected[128];
    text message, field;
    clear(&message), clear(&field);
    /* A final message serves one request, because its server nonce is for one request. */
    if (view->use_count == 0 && read_state(view->state, sid, sizeof sid, final, sizeof final, expected, sizeof expected)) {
        print(&field, "SCRAM-SHA-256 sid=%s, data=", sid);
        put_base64(&field, (const uint8_t *)final, strlen(final));
    } else {
        print(&message, "n,,n=%s,r=", account->username), put_base64url(&message, view->random.data, 24);
        put_text(&field, "SCRAM-SHA-256 data="), put_base64(&field, (const uint8_t *)message.data, message.count);
    }
    if (field.is_cut) return fail(errors, NEVOD_INTERNAL, "", "the message is too long");
    edits->set_header(edits->host, bytes("Authorization"), bytes_of(&field));
    return NEVOD_OK;
}

/* Responds to the server's first message: makes the client's final message, and the signature with which the server must prove that
 * it knows the password. */
static int answer(const account *account, const char *client_first, const char *server_first, text *final, text *expected) {
    char nonce[256], own[128], salt_text[256], count[16];
    uint8_t salt[192], salted[DIGEST], client_key[DIGEST], stored[DIGEST], server_key[DIGEST], mac[DIGEST];
    if (!attribute(server_first, 'r', nonce, sizeof nonce) || !attribute(server_first, 's', salt_text, sizeof salt_text) ||
        !attribute(server_first, 'i', count, sizeof count) || !attribute(client_first + 3, 'r', own, sizeof own))
        return 0;
    const int salt_count = from_base64(salt, sizeof salt, salt_text, strlen(salt_text)), iterations = atoi(count);
    if (salt_count <= 0 || iterations < 4096 || iterations > MOST_ITERATIONS || strncmp(nonce, own, strlen(own)) != 0) return 0;
    if (PKCS5_PBKDF2_HMAC(account->password, -1, salt, salt_count, iterations, EVP_sha256(), DIGEST, salted) != 1) return 0;
    hmac_sha256(client_key, salted, DIGEST, "Client Key", 10);
    hmac_sha256(server_key, salted, DIGEST, "Server Key", 10);
    if (EVP_Digest(client_key, DIGEST, stored, NULL, EVP_sha256(), NULL) != 1) return 0;
    print(final, "c=biws,r=%s", nonce);
    text proven;
    clear(&proven), print(&proven, "%s,%s,%s", client_first + 3, server_first, final->data);
    hmac_sha256(mac, stored, DIGEST, proven.data, proven.count);
    for (int i = 0; i < DIGEST; i++) mac[i] ^= client_key[i];
    put_text(final, ",p="), put_base64(final, mac, DIGEST);
    hmac_sha256(mac, server_key, DIGEST, proven.data, proven.count);
    put_base64(expected, mac, DIGEST);
    OPENSSL_cleanse(salted, DIGEST), OPENSSL_cleanse(client_key, DIGEST), OPENSSL_cleanse(server_key, DIGEST);
    return !final->is_cut && !proven.is_cut;
}

static int32_t refuse(const nevod_errors *errors, const char *why) {
    fail(errors, NEVOD_OK, "Authentication-Info", why);
    return NEVOD_VERDICT_REFUSE;
}

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token;
    char sent[1024], sid[128], received[1024], final[1024], expected[128], line[2048], proof[128];
    if (!read_field(value_of(request->headers, request->header_count, "Authorization"), sent, sizeof sent, sid, sizeof sid))
        return NEVOD_VERDICT_NOTHING;
    const int is_first = strncmp(sent, "n,,", 3) == 0;
    if (response->status == 401 && is_first) {
        text own, wanted, state;
        clear(&own), clear(&wanted), clear(&state);
        if (!read_field(header_of(response, "WWW-Authenticate"), received, sizeof received, sid, sizeof sid) ||
            !answer(instance, sent, received, &own, &wanted))
            return NEVOD_VERDICT_NOTHING;
        print(&state, "%s\n%s\n%s", sid, own.data, wanted.data);
        if (state.is_cut || actions->set_state(actions->host, bytes_of(&state)) != NEVOD_OK) return NEVOD_VERDICT_NOTHING;
        return NEVOD_VERDICT_RETRY_ONCE;
    }
    if (response->status == 401) return NEVOD_VERDICT_NOTHING;
    if (is_first) return refuse(errors, "the server didn't ask for a proof");
    /* The state with which this request was signed. */
    if (!read_state(request->state, sid, sizeof sid, final, sizeof final, expected, sizeof expected))
        return refuse(errors, "there is no signature to compare with");
    snprintf(line, sizeof line, "SCRAM-SHA-256 %.*s", (int)header_of(response, "Authentication-Info").count,
             (const char *)header_of(response, "Authentication-Info").data);
    if (!read_field(bytes(line), received, sizeof received, sid, sizeof sid) || !attribute(received, 'v', proof, sizeof proof))
        return refuse(errors, "the server didn't prove that it knows the password");
    if (strlen(proof) != strlen(expected) || CRYPTO_memcmp(proof, expected, strlen(proof)) != 0)
        return refuse(errors, "the server's signature is wrong");
    return NEVOD_VERDICT_NOTHING;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .flags = NEVOD_SCHEME_BLOCKS,
    .id = NEVOD_BYTES("scram"),
    .title = NEVOD_BYTES("SCRAM-SHA-256"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
    .on_response = on_response,
};
PROBE_PLUGIN("SCRAM", scheme)
