/* Basic (RFC 7617) for an origin or a proxy, depending on the view. */
#include "probe.h"

PROBE_SETTING(username_setting, "username", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
PROBE_SETTING(password_setting, "password", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET);
static const nevod_setting *const settings[] = { &username_setting, &password_setting };

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    text pair, *header = calloc(1, sizeof *header);
    if (!header) return NEVOD_INTERNAL;
    clear(&pair);
    put_bytes(&pair, value_of(values, count, "username"));
    put_text(&pair, ":");
    put_bytes(&pair, value_of(values, count, "password"));
    if (pair.is_cut || pair.count > 4096) {
        free(header);
        return fail(errors, NEVOD_BAD_SETTINGS, "password", "longer than Basic can carry");
    }
    put_text(header, "Basic ");
    header->count += (size_t)EVP_EncodeBlock((uint8_t *)header->data + header->count, (const uint8_t *)pair.data, (int)pair.count);
    OPENSSL_cleanse(&pair, sizeof pair);
    *instance = header;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    OPENSSL_cleanse(instance, sizeof(text));
    free(instance);
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token, (void)errors;
    const int is_proxy = view->target_kind == NEVOD_TARGET_PROXY;
    edits->set_header(edits->host, bytes(is_proxy ? "Proxy-Authorization" : "Authorization"), bytes_of(instance));
    return NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = NEVOD_BYTES("basic"),
    .title = NEVOD_BYTES("Basic"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .authorize = authorize,
};
PROBE_PLUGIN("Basic", scheme)
