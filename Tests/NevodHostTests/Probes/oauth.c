/* OAuth 2, authorization code with PKCE, at the issuer in a setting (RFC 6749, 7636, 8252, 8414). Its token is the access token, a
 * line break, and the refresh token. */
#include "probe.h"

PROBE_SETTING(issuer_setting, "issuer", NEVOD_SETTING_URL, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_ISSUER);
PROBE_SETTING(client_setting, "client-id", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(scope_setting, "scope", NEVOD_SETTING_TEXT, 0);
static const nevod_setting *const settings[] = { &issuer_setting, &client_setting, &scope_setting };

typedef struct client {
    char issuer[512], id[256], scope[256];
} client;

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    client *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->issuer, sizeof made->issuer, value_of(values, count, "issuer")) ||
        !copy(made->id, sizeof made->id, value_of(values, count, "client-id")) ||
        !copy(made->scope, sizeof made->scope, value_of(values, count, "scope"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "", "a value is too long");
    }
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) { free(instance); }

/* ---------------------------------------------------------------------------------------------------------------- */
/* The token.                                                                                                        */

static int32_t token_decode(void *instance, nevod_bytes stored, void **token, const nevod_errors *errors) {
    (void)instance;
    const uint8_t *end = stored.count > 0 ? memchr(stored.data, '\n', stored.count) : NULL;
    if (!end) return fail(errors, NEVOD_BAD_TOKEN, "", "the stored token is not of this scheme");
    text *header = calloc(1, sizeof *header);
    if (!header) return NEVOD_INTERNAL;
    put_text(header, "Bearer ");
    put(header, stored.data, (uint64_t)(end - stored.data));
    *token = header;
    return NEVOD_OK;
}

static void token_free(void *instance, void *token) {
    (void)instance;
    OPENSSL_cleanse(token, sizeof(text));
    free(token);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)instance, (void)view;
    if (!token) return fail(errors, NEVOD_BAD_TOKEN, "", "there is no token");
    edits->set_header(edits->host, bytes("Authorization"), bytes_of(token));
    return NEVOD_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The items of a query.                                                                                             */

static void query_item(nevod_bytes url, const char *name, text *value) {
    const uint64_t name_count = strlen(name);
    clear(value);
    for (uint64_t i = 0; i + name_count + 1 < url.count; i++) {
        if (url.data[i] != '?' && url.data[i] != '&') continue;
        if (memcmp(url.data + i + 1, name, name_count) != 0 || url.data[i + 1 + name_count] != '=') continue;
        for (i += name_count + 2; i < url.count && url.data[i] != '&'; i++) {
            unsigned byte = url.data[i];
            if (byte == '%' && i + 2 < url.count && sscanf((const char *)url.data + i + 1, "%2x", &byte) == 1) i += 2;
            const uint8_t one = (uint8_t)byte;
            put(value, &one, 1);
        }
        return;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The flows.                                                                                                        */

typedef struct flow {
    int32_t kind;
    int is_exchanging;
    text state, verifier, redirect_uri, refresh_token, authorization_endpoint, token_endpoint;
} flow;

static int32_t flow_begin(void *instance, int32_t kind, void **made, const nevod_errors *errors) {
    (void)instance, (void)errors;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH) return NEVOD_UNSUPPORTED;
    flow *flow = calloc(1, sizeof *flow);
    if (!flow) return NEVOD_INTERNAL;
    flow->kind = kind;
    *made = flow;
    return NEVOD_OK;
}

static void flow_free(void *instance, void *freed) {
    (void)instance;
    OPENSSL_cleanse(freed, sizeof(flow));
    free(freed);
}

static void put_item(text *to, const char *name, nevod_bytes value) {
    const char last = to->count > 0 ? to->data[to->count - 1] : '&';
    print(to, "%s%s=", last == '&' || last == '?' ? "" : "&", name);
    put_percent_encoded(to, value, "");
}

static int32_t start(const client *client, flow *flow, const nevod_event *event, const nevod_actions *actions,
                     const nevod_errors *errors) {
    put_base64url(&flow->state, event->random.data, 16);
    if (flow->kind == NEVOD_FLOW_REFRESH) {
        const nevod_bytes token = event->token ? event->token->bytes : bytes("");
        const uint8_t *end = token.count > 0 ? memchr(token.data, '\n', token.count) : NULL;
        if (!end || end + 1 == token.data + token.count) return fail(errors, NEVOD_BAD_TOKEN, "", "there is no refresh token");
        put(&flow->refresh_token, end + 1, token.count - (uint64_t)(end + 1 - token.data));
    }
    text url;
    clear(&url);
    put_text(&url, client->issuer);
    while (url.count > 0 && url.data[url.count - 1] == '/') url.data[--url.count] = 0;
    put_text(&url, "/.well-known/openid-configuration");
    const nevod_flow_request request = { .struct_size = sizeof request, .method = NEVOD_BYTES("GET"), .url = bytes_of(&url) };
    actions->send(actions->host, &request);
    return NEVOD_OK;
}

static int32_t exchange(const client *client, flow *flow, const text *code, const nevod_actions *actions) {
    static const nevod_pair type = { NEVOD_BYTES("Content-Type"), NEVOD_BYTES("application/x-www-form-urlencoded") };
    const int is_login = flow->kind == NEVOD_FLOW_LOGIN;
    text form;
    clear(&form);
    put_item(&form, "grant_type", bytes(is_login ? "authorization_code" : "refresh_token"));
    put_item(&form, "client_id", bytes(client->id));
    put_item(&form, is_login ? "code" : "refresh_token", bytes_of(is_login ? code : &flow->refresh_token));
    if (is_login) put_item(&form, "redirect_uri", bytes_of(&flow->redirect_uri));
    if (is_login) put_item(&form, "code_verifier", bytes_of(&flow->verifier));
    flow->is_exchanging = 1;
    const nevod_flow_request request = {
        .struct_size = sizeof request, .method = NEVOD_BYTES("POST"), .url = bytes_of(&flow->token_endpoint),
        .headers = &type, .header_count = 1, .body = bytes_of(&form),
    };
    actions->send(actions->host, &request);
    return NEVOD_OK;
}

static int32_t metadata(const client *client, flow *flow, const nevod_response *response, const nevod_actions *actions,
                        const nevod_errors *errors) {
    text issuer;
    json_member(response->body, "issuer", &issuer);
    json_member(response->body, "authorization_endpoint", &flow->authorization_endpoint);
    json_member(response->body, "token_endpoint", &flow->token_endpoint);
    if (response->status != 200 || strcmp(issuer.data, client->issuer) != 0 || flow->token_endpoint.count == 0)
        return fail(errors, NEVOD_UNAVAILABLE, "issuer", "its metadata can't be read");
    if (flow->kind == NEVOD_FLOW_REFRESH) return exchange(client, flow, NULL, actions);
    const nevod_listen here = { .struct_size = sizeof here, .path = bytes("/callback") };
    actions->listen(actions->host, &here);
    return NEVOD_OK;
}

static int32_t browse(const client *client, flow *flow, const nevod_event *event, const nevod_actions *actions) {
    uint8_t digest[32];
    text url, challenge;
    put_bytes(&flow->redirect_uri, event->url);
    put_base64url(&flow->verifier, event->random.data, event->random.count);
    EVP_Q_digest(NULL, "SHA256", NULL, flow->verifier.data, flow->verifier.count, digest, NULL);
    clear(&url), clear(&challenge);
    put_base64url(&challenge, digest, sizeof digest);
    put_bytes(&url, bytes_of(&flow->authorization_endpoint));
    put_text(&url, strchr(url.data, '?') ? "&" : "?");
    put_item(&url, "response_type", bytes("code"));
    put_item(&url, "client_id", bytes(client->id));
    put_item(&url, "redirect_uri", bytes_of(&flow->redirect_uri));
    put_item(&url, "state", bytes_of(&flow->state));
    put_item(&url, "code_challenge", bytes_of(&challenge));
    put_item(&url, "code_challenge_method", bytes("S256"));
    if (client->scope[0]) put_item(&url, "scope", bytes(client->scope));
    actions->browse(actions->host, bytes_of(&url));
    return NEVOD_OK;
}

static int32_t finish(flow *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors) {
    const nevod_response *response = event->response;
    text access, refresh, lifetime, error, bytes;
    json_member(response->body, "error", &error);
    if (strcmp(error.data, "invalid_grant") == 0 && flow->kind == NEVOD_FLOW_REFRESH)
        return fail(errors, NEVOD_BAD_TOKEN, "", "the refresh token is not accepted any more");
    json_member(response->body, "access_token", &access);
    json_member(response->body, "refresh_token", &refresh);
    json_member(response->body, "expires_in", &lifetime);
    if (response->status != 200 || access.count == 0) return fail(errors, NEVOD_UNAVAILABLE, "", "no token was issued");
    clear(&bytes);
    print(&bytes, "%s\n%s", access.data, refresh.count > 0 ? refresh.data : flow->refresh_token.data);
    if (bytes.is_cut) return fail(errors, NEVOD_UNSUPPORTED, "", "the tokens are too long");
    const nevod_token token = {
        .struct_size = sizeof token, .bytes = bytes_of(&bytes),
        .expires_at_unix_ns = lifetime.count > 0 ? event->unix_time_ns + atoll(lifetime.data) * 1000000000 : 0,
    };
    actions->token(actions->host, &token);
    return NEVOD_OK;
}

static int32_t redirect(const client *client, flow *flow, const nevod_event *event, const nevod_actions *actions,
                        const nevod_errors *errors) {
    text state, code;
    query_item(event->url, "state", &state);
    query_item(event->url, "code", &code);
    if (strcmp(state.data, flow->state.data) != 0) return fail(errors, NEVOD_DENIED, "", "the redirect is not of this login");
    if (code.count == 0) return fail(errors, NEVOD_DENIED, "", "the login was refused");
    return exchange(client, flow, &code, actions);
}

static int32_t flow_step(void *instance, void *handle, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors) {
    flow *flow = handle;
    switch (event->kind) {
    case NEVOD_EVENT_START: return start(instance, flow, event, actions, errors);
    case NEVOD_EVENT_RESPONSE:
        if (flow->is_exchanging) return finish(flow, event, actions, errors);
        return metadata(instance, flow, event->response, actions, errors);
    case NEVOD_EVENT_LISTENING: return browse(instance, flow, event, actions);
    case NEVOD_EVENT_REDIRECT: return redirect(instance, flow, event, actions, errors);
    default: return NEVOD_UNAVAILABLE;
    }
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .flags = NEVOD_SCHEME_INTERACTIVE,
    .id = NEVOD_BYTES("oauth"),
    .title = NEVOD_BYTES("OAuth 2"),
    .settings = settings,
    .setting_count = 3,
    .create = create,
    .destroy = destroy,
    .token_decode = token_decode,
    .token_free = token_free,
    .authorize = authorize,
    .flow_begin = flow_begin,
    .flow_step = flow_step,
    .flow_free = flow_free,
};
PROBE_PLUGIN("OAuth", scheme)
