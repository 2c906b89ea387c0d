/* HTTP Digest (RFC 7616) with MD5 and SHA-256. Uses qop=auth-int, which covers the body, only if the server offers nothing else.
 * Its state is the server's last challenge, whose use count is the nonce count. With the setting `mutual`, it accepts only
 * responses whose rspauth proves that the server knows the password (§3.5). */
#include "probe.h"

PROBE_SETTING(username_setting, "username", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(password_setting, "password", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
PROBE_SETTING(mutual_setting, "mutual", NEVOD_SETTING_BOOLEAN, 0);
static const nevod_setting *const settings[] = { &username_setting, &password_setting, &mutual_setting };

typedef struct account {
    char username[256], password[256];
    int is_mutual;
} account;

static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT | NEVOD_NEED_BODY,
};
static const nevod_bytes digest_names[] = { NEVOD_BYTES("sha-256") };
static const nevod_needs mutual_needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT | NEVOD_NEED_BODY |
             NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_HEADERS,
    .response_digests = digest_names,
    .response_digest_count = 1,
};

static const nevod_needs *needs(void *instance) {
    return ((account *)instance)->is_mutual ? &mutual_needs_table : &needs_table;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    account *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->username, sizeof made->username, value_of(values, count, "username")) ||
        !copy(made->password, sizeof made->password, value_of(values, count, "password"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "password", "longer than 255 bytes");
    }
    made->is_mutual = is(value_of(values, count, "mutual"), "true");
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(account));
    free(instance);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The state: five lines. Each ends with a line break, which no header value can contain.                            */

enum { REALM, NONCE, OPAQUE, ALGORITHM, QOP, PARTS };

static void read_state(nevod_bytes state, text parts[PARTS]) {
    uint64_t start = 0;
    for (int part = 0; part < PARTS; part++) {
        clear(&parts[part]);
        uint64_t end = start;
        while (end < state.count && state.data[end] != '\n') end++;
        if (end > start) put(&parts[part], state.data + start, end - start);
        start = end + 1;
        if (start > state.count) start = state.count;
    }
}

static const char *digest_name(const text *algorithm) {
    if (algorithm->count == 0 || strcasecmp(algorithm->data, "MD5") == 0) return "MD5";
    if (strcasecmp(algorithm->data, "SHA-256") == 0) return "SHA256";
    return NULL;
}

static void put_quoted(text *to, const char *name, nevod_bytes value) {
    print(to, "%s=\"", name);
    for (uint64_t i = 0; i < value.count; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') put_text(to, "\\");
        put(to, value.data + i, 1);
    }
    put_text(to, "\"");
}

/* The value of a response or rspauth (§3.4.1, §3.5), from a method, which rspauth doesn't have, and a body's hash for auth-int. */
static void put_response(text *to, const account *account, const text parts[PARTS], const char *digest, nevod_bytes method,
                         nevod_bytes target, const text *nonce_count, const text *client_nonce, const text *body) {
    text work, first, second;
    clear(&work), clear(&first), clear(&second);
    print(&work, "%s:%s:%s", account->username, parts[REALM].data, account->password);
    put_digest(&first, digest, bytes_of(&work));
    OPENSSL_cleanse(&work, sizeof work);
    clear(&work), put_bytes(&work, method), put_text(&work, ":"), put_bytes(&work, target);
    if (body->count > 0) print(&work, ":%s", body->data);
    put_digest(&second, digest, bytes_of(&work));
    to->is_cut |= work.is_cut;
    clear(&work);
    print(&work, "%s:%s:%s:%s:%s:%s", first.data, parts[NONCE].data, nonce_count->data, client_nonce->data, parts[QOP].data,
          second.data);
    put_digest(to, digest, bytes_of(&work));
    to->is_cut |= work.is_cut;
    OPENSSL_cleanse(&first, sizeof first);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const account *account = instance;
    if (view->state.count == 0) return NEVOD_OK; /* No challenge yet. */
    text parts[PARTS], response, nonce_count, client_nonce, header, body;
    read_state(view->state, parts);
    const char *digest = digest_name(&parts[ALGORITHM]);
    if (!digest) return fail(errors, NEVOD_INTERNAL, "", "the state is not of this scheme");
    clear(&response), clear(&nonce_count), clear(&client_nonce), clear(&header), clear(&body);
    print(&nonce_count, "%08llx", (unsigned long long)view->use_count + 1);
    put_base64url(&client_nonce, view->random.data, 18);
    if (strcmp(parts[QOP].data, "auth-int") == 0) {
        if (view->body_kind == NEVOD_BODY_STREAM) return fail(errors, NEVOD_UNSUPPORTED, "", "auth-int can't cover a streamed body");
        put_digest(&body, digest, view->body);
    }
    put_response(&response, account, parts, digest, view->method, view->target, &nonce_count, &client_nonce, &body);

    put_text(&header, "Digest ");
    put_quoted(&header, "username", bytes(account->username)), put_text(&header, ", ");
    put_quoted(&header, "realm", bytes_of(&parts[REALM])), put_text(&header, ", ");
    put_quoted(&header, "nonce", bytes_of(&parts[NONCE])), put_text(&header, ", ");
    put_quoted(&header, "uri", view->target);
    if (parts[ALGORITHM].count > 0) print(&header, ", algorithm=%s", parts[ALGORITHM].data);
    if (parts[OPAQUE].count > 0) put_text(&header, ", "), put_quoted(&header, "opaque", bytes_of(&parts[OPAQUE]));
    print(&header, ", qop=%s, nc=%s, cnonce=\"%s\", response=\"%s\"", parts[QOP].data, nonce_count.data, client_nonce.data,
          response.data);
    if (response.is_cut || header.is_cut) return fail(errors, NEVOD_UNSUPPORTED, "", "the request's target is too long for Digest");
    const int is_proxy = view->target_kind == NEVOD_TARGET_PROXY;
    edits->set_header(edits->host, bytes(is_proxy ? "Proxy-Authorization" : "Authorization"), bytes_of(&header));
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Challenges (RFC 9110 §11.6.1). One line may have several.                                                         */

typedef struct reader {
    const char *at, *end;
} reader;

static int is_separator(char byte) { return byte == ' ' || byte == '\t' || byte == ','; }

static void skip(reader *from) {
    while (from->at < from->end && is_separator(*from->at)) from->at++;
}

static void read_word(reader *from, text *word) {
    const char *start = from->at;
    while (from->at < from->end && !is_separator(*from->at) && *from->at != '=') from->at++;
    clear(word);
    put(word, start, (uint64_t)(from->at - start));
}

static void read_value(reader *from, text *value) {
    clear(value);
    if (from->at == from->end || *from->at != '"') return read_word(from, value);
    for (from->at++; from->at < from->end && *from->at != '"'; from->at++) {
        if (*from->at == '\\' && from->at + 1 < from->end) from->at++;
        put(value, from->at, 1);
    }
    if (from->at < from->end) from->at++;
}

typedef struct challenge {
    text parts[PARTS];
    int is_digest, is_stale;
} challenge;

static int is_usable(const challenge *one) {
    return one->is_digest && one->parts[QOP].count > 0 && one->parts[NONCE].count > 0 && digest_name(&one->parts[ALGORITHM]);
}

/* The first supported challenge, because servers list their preferred ones first. */
static int find_challenge(nevod_bytes line, challenge *found) {
    reader from = { (const char *)line.data, (const char *)line.data + line.count };
    text word, value;
    memset(found, 0, sizeof *found);
    for (skip(&from); from.at < from.end; skip(&from)) {
        const char *start = from.at;
        read_word(&from, &word);
        if (from.at < from.end && *from.at == '=') {
            from.at++;
            read_value(&from, &value);
            if (strcasecmp(word.data, "realm") == 0) found->parts[REALM] = value;
            if (strcasecmp(word.data, "nonce") == 0) found->parts[NONCE] = value;
            if (strcasecmp(word.data, "opaque") == 0) found->parts[OPAQUE] = value;
            if (strcasecmp(word.data, "algorithm") == 0) found->parts[ALGORITHM] = value;
            if (strcasecmp(word.data, "stale") == 0) found->is_stale = strcasecmp(value.data, "true") == 0;
            if (strcasecmp(word.data, "qop") == 0) {
                reader items = { value.data, value.data + value.count };
                for (skip(&items); items.at < items.end; skip(&items)) {
                    text item;
                    read_word(&items, &item);
                    const int is_known = strcasecmp(item.data, "auth") == 0 || strcasecmp(item.data, "auth-int") == 0;
                    /* The shorter name: auth, if the server leaves a choice. */
                    text *best = &found->parts[QOP];
                    if (is_known && (best->count == 0 || item.count < best->count)) *best = item;
                    if (item.count == 0) break;
                }
            }
        } else {
            if (is_usable(found)) return 1;
            memset(found, 0, sizeof *found);
            found->is_digest = strcasecmp(word.data, "Digest") == 0;
        }
        if (from.at == start) return 0;
    }
    return is_usable(found);
}

/* A parameter's value in a line such as `Digest nc=…, cnonce="…"`. */
static int parameter(nevod_bytes line, const char *name, text *value) {
    reader from = { (const char *)line.data, (const char *)line.data + line.count };
    text word;
    for (skip(&from); from.at < from.end; skip(&from)) {
        const char *start = from.at;
        read_word(&from, &word);
        if (from.at < from.end && *from.at == '=') {
            from.at++;
            read_value(&from, value);
            if (strcasecmp(word.data, name) == 0) return value->count > 0 && !value->is_cut;
        }
        if (from.at == start) return 0;
    }
    return 0;
}

/* Checks Authentication-Info of a response to an authorized request. */
static int32_t check_server(const account *account, const nevod_view *request, const nevod_response *response,
                            const nevod_errors *errors) {
    text parts[PARTS], nonce_count, client_nonce, body, given, wanted;
    clear(&body), clear(&given), clear(&wanted);
    const nevod_bytes sent = value_of(request->headers, request->header_count, "Authorization");
    if (sent.count == 0) return NEVOD_VERDICT_NOTHING;
    read_state(request->state, parts);
    const char *digest = digest_name(&parts[ALGORITHM]);
    if (!digest || !parameter(sent, "nc", &nonce_count) || !parameter(sent, "cnonce", &client_nonce) ||
        !parameter(header_of(response, "Authentication-Info"), "rspauth", &given)) {
        fail(errors, NEVOD_OK, "Authentication-Info", "the server doesn't prove that it knows the password");
        return NEVOD_VERDICT_REFUSE;
    }
    if (strcmp(parts[QOP].data, "auth-int") == 0) {
        /* The host computes only digests from RFC 9530's registry, so there is no MD5 of the body. */
        if (response->digest_count == 0 || strcmp(digest, "SHA256") != 0) {
            fail(errors, NEVOD_OK, "rspauth", "covers a body whose digest is unknown");
            return NEVOD_VERDICT_REFUSE;
        }
        put_hex(&body, response->digests[0].value.data, response->digests[0].value.count);
    }
    put_response(&wanted, account, parts, digest, bytes(""), request->target, &nonce_count, &client_nonce, &body);
    if (wanted.is_cut || given.count != wanted.count || CRYPTO_memcmp(given.data, wanted.data, given.count) != 0) {
        fail(errors, NEVOD_OK, "rspauth", "is wrong: the server doesn't know the password, or the body is another");
        return NEVOD_VERDICT_REFUSE;
    }
    return NEVOD_VERDICT_NOTHING;
}

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token;
    const account *account = instance;
    const char *field = response->target_kind == NEVOD_TARGET_PROXY ? "Proxy-Authenticate" : "WWW-Authenticate";
    for (uint32_t i = 0; i < response->header_count; i++) {
        challenge found;
        if (!is(response->headers[i].name, field) || !find_challenge(response->headers[i].value, &found)) continue;
        text state;
        clear(&state);
        for (int part = 0; part < PARTS; part++) put_bytes(&state, bytes_of(&found.parts[part])), put_text(&state, "\n");
        if (state.is_cut || actions->set_state(actions->host, bytes_of(&state)) != NEVOD_OK) return NEVOD_VERDICT_NOTHING;
        /* If credentials are rejected although their nonce is valid, the password is wrong. */
        return request->state.count == 0 || found.is_stale ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_STATE_CHANGED;
    }
    if (account->is_mutual && response->status != 401) return check_server(account, request, response, errors);
    return NEVOD_VERDICT_NOTHING;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("digest"),
    .title = NEVOD_BYTES("HTTP Digest"),
    .settings = settings,
    .setting_count = 3,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
    .on_response = on_response,
};
PROBE_PLUGIN("Digest", scheme)
