/* Sends a key, its secret and the time as header lines. */
#include "nevod_helpers.h"

/* A copy of the settings, which `create` only borrows. Any number of threads may read it. */
typedef struct instance {
    nevod_buffer key, secret;
} instance;

static void destroy(void *pointer)
{
    instance *self = pointer;
    nevod_buffer_free(&self->key);
    nevod_buffer_free(&self->secret);
    free(self);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)host;
    nevod_bytes key = nevod_find(values, value_count, NEVOD_TEXT("key"));
    nevod_bytes secret = nevod_find(values, value_count, NEVOD_TEXT("secret"));
    if (key.count == 0 || secret.count == 0)
        return nevod_fail(errors, NEVOD_BAD_SETTINGS, key.count == 0 ? "key" : "secret", "must not be empty");
    instance *self = malloc(sizeof *self);
    if (self == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    *self = (instance){nevod_copy(key), nevod_copy(secret)};
    if (self->key.failed || self->secret.failed) {
        destroy(self);
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    }
    *out = self;
    return NEVOD_OK;
}

static int32_t authorize(void *pointer, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)token;
    const instance *self = pointer;
    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "this credential is for a server, not for a proxy");
    nevod_buffer time = nevod_buffer_empty();
    nevod_append_decimal(&time, view->unix_time_ns / 1000000000);
    edits->set_header(edits->host, NEVOD_TEXT("X-Key"), nevod_written(&self->key));
    edits->set_header(edits->host, NEVOD_TEXT("X-Secret"), nevod_written(&self->secret));
    edits->set_header(edits->host, NEVOD_TEXT("X-Time"), nevod_written(&time));
    int failed = time.failed;
    nevod_buffer_free(&time);
    return failed ? NEVOD_INTERNAL : NEVOD_OK;
}

static const nevod_setting key_setting =
    NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED, "key", "", "Sent in X-Key");
static const nevod_setting secret_setting =
    NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET, "secret", "", "Sent in X-Secret");
static const nevod_setting *const settings[] = {&key_setting, &secret_setting};

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .id = NEVOD_BYTES("acme-keys"), .title = NEVOD_BYTES("A key, its secret and the time"),
    .settings = settings, .setting_count = 2,
    .create = create, .destroy = destroy, .authorize = authorize,
};
static const nevod_scheme *const schemes[] = {&scheme};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
        .scheme_count = 1, .schemes = schemes,
        .name = NEVOD_BYTES("AcmeKeysAuth"), .version = NEVOD_BYTES("0.1.0"), .vendor = NEVOD_BYTES("you"),
    };
    return &plugin;
}
