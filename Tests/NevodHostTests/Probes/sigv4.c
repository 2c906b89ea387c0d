
/* AWS Signature Version 4, with the key in the settings. Its only input is the view. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */

#include <time.h>

#include <openssl/hmac.h>

#include "probe.h"

PROBE_SETTING(access_key_setting, "access-key", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(secret_key_setting, "secret-key", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
PROBE_SETTING(session_token_setting, "session-token", NEVOD_SETTING_TEXT, NEVOD_SETTING_SECRET);
PROBE_SETTING(region_setting, "region", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(service_setting, "service", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
static const nevod_setting *const settings[] = { &access_key_setting, &secret_key_setting, &session_token_setting,
                                                 &region_setting, &service_setting };

typedef struct account {
    char access_key[128], secret_key[256], session_token[2048], region[64], service[64];
} account;

static const nevod_bytes digests[] = { NEVOD_BYTES("sha-256") };
static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_HEADERS,
    .digests = digests,
    .digest_count = 1,
};

static const nevod_needs *needs(void *instance) {
    (void)instance;
    return &needs_table;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(account));
    free(instance);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    account *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->access_key, sizeof made->access_key, value_of(values, count, "access-key")) ||
        !copy(made->secret_key, sizeof made->secret_key, value_of(values, count, "secret-key")) ||
        !copy(made->session_token, sizeof made->session_token, value_of(values, count, "session-token")) ||
        !copy(made->region, sizeof made->region, value_of(values, count, "region")) ||
        !copy(made->service, sizeof made->service, value_of(values, count, "service"))) {
        destroy(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "", "a value is too long");
    }
    *instance = made;
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The canonical request.                                                                                            */

/* Removes dot segments and doubled slashes, and encodes the path again. */
static void put_path(text *to, nevod_bytes path) {
    nevod_bytes segments[256];
    size_t kept = 0;
    uint64_t start = 0;
    for (uint64_t i = 0; i <= path.count; i++) {
        if (i < path.count && path.data[i] != '/') continue;
        const nevod_bytes segment = { path.data + start, i - start };
        start = i + 1;
        if (segment.count == 0 || is(segment, ".")) continue;
        if (is(segment, "..")) kept -= kept > 0;
        else if (kept < 256) segments[kept++] = segment;
        else to->is_cut = 1;
    }
    for (size_t i = 0; i < kept; i++) put_text(to, "/"), put_percent_encoded(to, segments[i], "");
    if (kept == 0 || path.data[path.count - 1] == '/') put_text(to, "/");
}

static int order_of(nevod_bytes left, nevod_bytes right) {
    const uint64_t shared = left.count < right.count ? left.count : right.count;
    const int order = shared > 0 ? memcmp(left.data, right.data, shared) : 0;
    return order != 0 ? order : (left.count > right.count) - (left.count < right.count);
}

static int by_name_and_value(const void *left, const void *right) {
    const nevod_pair *one = left, *other = right;
    const int order = order_of(one->name, other->name);
    return order != 0 ? order : order_of(one->value, other->value);
}

static void put_query(text *to, nevod_bytes query) {
    nevod_pair items[128];
    size_t count = 0;
    if (query.count == 0) return;
    for (uint64_t start = 0, i = 0; i <= query.count; i++) {
        if (i < query.count && query.data[i] != '&') continue;
        uint64_t equals = start;
        while (equals < i && query.data[equals] != '=') equals++;
        const uint64_t value = equals < i ? equals + 1 : i;
        if (count == 128) to->is_cut = 1;
        else items[count++] = (nevod_pair){ { query.data + start, equals - start }, { query.data + value, i - value } };
        start = i + 1;
    }
    qsort(items, count, sizeof items[0], by_name_and_value);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) put_text(to, "&");
        put_bytes(to, items[i].name), put_text(to, "="), put_bytes(to, items[i].value);
    }
}

/* Runs of white space count as one. */
static void put_trimmed(text *to, nevod_bytes value) {
    int is_within = 0, is_behind_space = 0;
    for (uint64_t i = 0; i < value.count; i++) {
        const int is_space = value.data[i] == ' ' || value.data[i] == '\t';
        if (!is_space && is_within && is_behind_space) put_text(to, " ");
        if (!is_space) put(to, value.data + i, 1), is_within = 1;
        is_behind_space = is_space;
    }
}

/* Headers that proxies and clients may change. */
static int is_signed(nevod_bytes name) { return !is(name, "user-agent") && !is(name, "expect") && !is(name, "x-amzn-trace-id"); }

typedef struct line {
    char name[128];
    nevod_bytes value;
    uint32_t index;
} line;

static int by_lower_name(const void *left, const void *right) {
    const line *one = left, *other = right;
    const int order = strcmp(one->name, other->name);
    return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

static void put_headers(text *to, text *names, const nevod_view *view, const account *account, const char *date) {
    line lines[128];
    uint32_t count = 0;
    if (view->header_count > 120) to->is_cut = 1;
    for (uint32_t i = 0; i < view->header_count && count < 120; i++) {
        const nevod_bytes name = view->headers[i].name;
        if (!is_signed(name) || is(name, "authorization") || is(name, "x-amz-date")) continue;
        if (!copy(lines[count].name, sizeof lines[count].name, name)) to->is_cut = 1, lines[count].name[0] = 0;
        for (char *byte = lines[count].name; *byte; byte++) *byte |= (*byte >= 'A' && *byte <= 'Z') ? 0x20 : 0;
        lines[count].value = view->headers[i].value, lines[count].index = i, count++;
    }
    lines[count] = (line){ .name = "x-amz-date", .value = bytes(date), .index = count }, count++;
    if (account->session_token[0])
        lines[count] = (line){ .name = "x-amz-security-token", .value = bytes(account->session_token) }, count++;
    qsort(lines, count, sizeof lines[0], by_lower_name);
    for (uint32_t i = 0; i < count; i++) {
        const int is_repeated = i > 0 && strcmp(lines[i].name, lines[i - 1].name) == 0;
        if (is_repeated) put_text(to, ",");
        else print(to, "%s%s:", i > 0 ? "\n" : "", lines[i].name), print(names, "%s%s", i > 0 ? ";" : "", lines[i].name);
        put_trimmed(to, lines[i].value);
    }
    put_text(to, "\n");
}

/* ---------------------------------------------------------------------------------------------------------------- */

static void keyed(uint8_t key[32], size_t key_count, const char *message) {
    uint8_t result[32];
    HMAC(EVP_sha256(), key, (int)key_count, (const uint8_t *)message, strlen(message), result, NULL);
    memcpy(key, result, sizeof result);
    OPENSSL_cleanse(result, sizeof result);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    const account *account = instance;
    const time_t seconds = (time_t)(view->unix_time_ns / 1000000000);
    struct tm time;
    char date[32];
    gmtime_r(&seconds, &time);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &time);

    const nevod_bytes digest = value_of(view->digests, view->digest_count, "sha-256");
    if (view->body_kind != NEVOD_BODY_NONE && digest.count == 0)
        return fail(errors, NEVOD_UNSUPPORTED, "", "a body that can be read only once can't be signed");
    uint64_t end = 0;
    while (end < view->target.count && view->target.data[end] != '?') end++;
    const nevod_bytes path = { view->target.data, end };
    const uint64_t query_start = end < view->target.count ? end + 1 : end;
    const nevod_bytes query = { view->target.data + query_start, view->target.count - query_start };

    text request, names, scope, message, header;
    clear(&request), clear(&names), clear(&scope), clear(&message), clear(&header);
    put_bytes(&request, view->method), put_text(&request, "\n");
    put_path(&request, path), put_text(&request, "\n");
    put_query(&request, query), put_text(&request, "\n");
    put_headers(&request, &names, view, account, date);
    print(&request, "\n%s\n", names.data);
    if (digest.count > 0) put_hex(&request, digest.data, digest.count);
    else put_digest(&request, "SHA256", (nevod_bytes){ NULL, 0 });

    print(&scope, "%.8s/%s/%s/aws4_request", date, account->region, account->service);
    print(&message, "AWS4-HMAC-SHA256\n%s\n%s\n", date, scope.data);
    put_digest(&message, "SHA256", bytes_of(&request));
    if (request.is_cut || message.is_cut) return fail(errors, NEVOD_UNSUPPORTED, "", "the request is too long for this scheme");

    uint8_t key[sizeof account->secret_key + 4];
    const int key_count = snprintf((char *)key, sizeof key, "AWS4%s", account->secret_key);
    char day[9];
    snprintf(day, sizeof day, "%.8s", date);
    keyed(key, (size_t)key_count, day);
    keyed(key, 32, account->region);
    keyed(key, 32, account->service);
    keyed(key, 32, "aws4_request");
    keyed(key, 32, message.data);
    print(&header, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=", account->access_key, scope.data, names.data);
    put_hex(&header, key, 32);
    OPENSSL_cleanse(key, sizeof key);

    edits->set_header(edits->host, bytes("X-Amz-Date"), bytes(date));
    if (account->session_token[0])
        edits->set_header(edits->host, bytes("X-Amz-Security-Token"), bytes(account->session_token));
    edits->set_header(edits->host, bytes("Authorization"), bytes_of(&header));
    return NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("sigv4"),
    .title = NEVOD_BYTES("AWS Signature Version 4"),
    .settings = settings,
    .setting_count = 5,
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
};
PROBE_PLUGIN("SigV4", scheme)
