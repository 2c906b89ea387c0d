/* OAuth 2 client credentials (RFC 6749 §4.4) with a scope for each request. The token is stored as issued, because the scheme
 * decodes nothing. */
#include "probe.h"

PROBE_SETTING(endpoint_setting, "token-url", NEVOD_SETTING_URL, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(client_setting, "client-id", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(secret_setting, "client-secret", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
PROBE_SETTING(scope_parameter, "scope", NEVOD_SETTING_TEXT, 0);
static const nevod_setting *const settings[] = { &endpoint_setting, &client_setting, &secret_setting };
static const nevod_setting *const parameters[] = { &scope_parameter };

typedef struct client {
    char endpoint[1024], id[128], secret[128];
} client;

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    client *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    if (!copy(made->endpoint, sizeof made->endpoint, value_of(values, count, "token-url")) ||
        !copy(made->id, sizeof made->id, value_of(values, count, "client-id")) ||
        !copy(made->secret, sizeof made->secret, value_of(values, count, "client-secret"))) {
        free(made);
        return fail(errors, NEVOD_BAD_SETTINGS, "client-secret", "too long");
    }
    *instance = made;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(client));
    free(instance);
}

static int32_t flow_begin(void *instance, int32_t kind, void **flow, const nevod_errors *errors) {
    (void)instance, (void)errors;
    *flow = NULL;
    return kind == NEVOD_FLOW_LOGIN ? NEVOD_OK : NEVOD_UNSUPPORTED;
}

static int32_t flow_step(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors) {
    (void)flow;
    const client *client = instance;
    text form, access, seconds;
    switch (event->kind) {
    case NEVOD_EVENT_START: {
        const nevod_bytes scope = value_of(event->parameters, event->parameter_count, "scope");
        const nevod_pair type = { NEVOD_BYTES("Content-Type"), NEVOD_BYTES("application/x-www-form-urlencoded") };
        clear(&form), put_text(&form, "grant_type=client_credentials&client_id="), put_percent_encoded(&form, bytes(client->id), "");
        put_text(&form, "&client_secret="), put_percent_encoded(&form, bytes(client->secret), "");
        if (scope.count > 0) put_text(&form, "&scope="), put_percent_encoded(&form, scope, "");
        const nevod_flow_request request = { .struct_size = sizeof request, .method = bytes("POST"), .url = bytes(client->endpoint),
                                             .headers = &type, .header_count = 1, .body = bytes_of(&form) };
        actions->send(actions->host, &request);
        OPENSSL_cleanse(&form, sizeof form);
        return NEVOD_OK;
    }
    case NEVOD_EVENT_RESPONSE:
        json_member(event->response->body, "access_token", &access);
        json_member(event->response->body, "expires_in", &seconds);
        if (event->response->status >= 500) return fail(errors, NEVOD_UNAVAILABLE, "", "the authorization server is down");
        if (event->response->status != 200 || access.count == 0 || access.is_cut)
            return fail(errors, NEVOD_DENIED, "scope", "refused by the authorization server");
        const nevod_token token = { .struct_size = sizeof token, .bytes = bytes_of(&access),
                                    .expires_at_unix_ns = seconds.count ? event->unix_time_ns + atoll(seconds.data) * 1000000000 : 0 };
        actions->token(actions->host, &token);
        OPENSSL_cleanse(&access, sizeof access);
        return NEVOD_OK;
    default: return fail(errors, NEVOD_UNAVAILABLE, "", "the authorization server doesn't respond");
    }
}

static void flow_free(void *instance, void *flow) { (void)instance, (void)flow; }

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)instance, (void)view;
    if (!token) return fail(errors, NEVOD_BAD_TOKEN, "", "there is no token yet");
    text header;
    clear(&header), put_text(&header, "Bearer "), put_bytes(&header, ((const nevod_token *)token)->bytes);
    edits->set_header(edits->host, bytes("Authorization"), bytes_of(&header));
    OPENSSL_cleanse(&header, sizeof header);
    return NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("scope"),
    .title = NEVOD_BYTES("Client credentials with a scope"),
    .settings = settings,
    .parameters = parameters,
    .setting_count = 3,
    .parameter_count = 1,
    .create = create,
    .destroy = destroy,
    .authorize = authorize,
    .flow_begin = flow_begin,
    .flow_step = flow_step,
    .flow_free = flow_free,
};
PROBE_PLUGIN("Scope", scheme)
