/* HTTP Digest (RFC 7616) with MD5 and SHA-256, qop=auth. Its state is the server's last challenge; the count of its uses is
 * the nonce count. */
#include "probe.h"

PROBE_SETTING(username_setting, "username", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(password_setting, "password", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
static const nevod_setting *const settings[] = { &username_setting, &password_setting };

typedef struct account {
    char username[256], password[256];
} account;

static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT,
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
    if (!copy(made->username, sizeof made->username, value_of(values, count, "username")) ||
        !copy(made->password, sizeof made->password, value_of(values, count, "password"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "password", "longer than 255 bytes");
    }
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(account));
    free(instance);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The state: four lines, each ended by a line break, which no header's value holds.                                  */

enum { REALM, NONCE, OPAQUE, ALGORITHM, PARTS };

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

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const account *account = instance;
    if (view->state.count == 0) return NEVOD_OK; /* No challenge yet. */
    text parts[PARTS], work, first, second, response, nonce_count, client_nonce, header;
    read_state(view->state, parts);
    const char *digest = digest_name(&parts[ALGORITHM]);
    if (!digest) return fail(errors, NEVOD_INTERNAL, "", "the state is not of this scheme");
    clear(&work), clear(&first), clear(&second), clear(&response), clear(&nonce_count), clear(&client_nonce), clear(&header);
    print(&nonce_count, "%08llx", (unsigned long long)view->use_count + 1);
    put_base64url(&client_nonce, view->random.data, 18);
    print(&work, "%s:%s:%s", account->username, parts[REALM].data, account->password);
    put_digest(&first, digest, bytes_of(&work));
    OPENSSL_cleanse(&work, sizeof work);
    clear(&work), put_bytes(&work, view->method), put_text(&work, ":"), put_bytes(&work, view->target);
    put_digest(&second, digest, bytes_of(&work));
    clear(&work);
    print(&work, "%s:%s:%s:%s:auth:%s", first.data, parts[NONCE].data, nonce_count.data, client_nonce.data, second.data);
    put_digest(&response, digest, bytes_of(&work));

    put_text(&header, "Digest ");
    put_quoted(&header, "username", bytes(account->username)), put_text(&header, ", ");
    put_quoted(&header, "realm", bytes_of(&parts[REALM])), put_text(&header, ", ");
    put_quoted(&header, "nonce", bytes_of(&parts[NONCE])), put_text(&header, ", ");
    put_quoted(&header, "uri", view->target);
    if (parts[ALGORITHM].count > 0) print(&header, ", algorithm=%s", parts[ALGORITHM].data);
    if (parts[OPAQUE].count > 0) put_text(&header, ", "), put_quoted(&header, "opaque", bytes_of(&parts[OPAQUE]));
    print(&header, ", qop=auth, nc=%s, cnonce=\"%s\", response=\"%s\"", nonce_count.data, client_nonce.data, response.data);
    const int is_cut = work.is_cut || header.is_cut;
    OPENSSL_cleanse(&first, sizeof first);
    if (is_cut) return fail(errors, NEVOD_UNSUPPORTED, "", "the request's target is too long for Digest");
    const int is_proxy = view->target_kind == NEVOD_TARGET_PROXY;
    edits->set_header(edits->host, bytes(is_proxy ? "Proxy-Authorization" : "Authorization"), bytes_of(&header));
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Challenges (RFC 9110 §11.6.1): several may stand in one line.                                                      */

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
    int is_digest, has_auth, is_stale;
} challenge;

static int is_usable(const challenge *one) {
    return one->is_digest && one->has_auth && one->parts[NONCE].count > 0 && digest_name(&one->parts[ALGORITHM]);
}

/* The first supported challenge: servers list the ones they prefer first. */
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
                    found->has_auth |= strcasecmp(item.data, "auth") == 0;
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

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)instance, (void)token, (void)errors;
    const char *field = response->target_kind == NEVOD_TARGET_PROXY ? "Proxy-Authenticate" : "WWW-Authenticate";
    for (uint32_t i = 0; i < response->header_count; i++) {
        challenge found;
        if (!is(response->headers[i].name, field) || !find_challenge(response->headers[i].value, &found)) continue;
        text state;
        clear(&state);
        for (int part = 0; part < PARTS; part++) put_bytes(&state, bytes_of(&found.parts[part])), put_text(&state, "\n");
        if (state.is_cut || actions->set_state(actions->host, bytes_of(&state)) != NEVOD_OK) return NEVOD_VERDICT_NOTHING;
        /* Credentials that are refused although their nonce is valid have a wrong password. */
        return request->state.count == 0 || found.is_stale ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_STATE_CHANGED;
    }
    return NEVOD_VERDICT_NOTHING;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("digest"),
    .title = NEVOD_BYTES("HTTP Digest"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
    .on_response = on_response,
};
PROBE_PLUGIN("Digest", scheme)
