// Sends a key, its secret and the time as header lines.
#include "nevod_helpers.h"

#include <new>
#include <string>
#include <string_view>

namespace {

nevod_bytes bytes(std::string_view text) { return nevod_span(text.data(), text.size()); }
std::string_view text(nevod_bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.count}; }

// A copy of the settings, which `create` only borrows. Any number of threads may read it.
struct Scheme {
    std::string key, secret;

    Scheme(const nevod_pair *values, uint32_t count)
        : key(text(nevod_find(values, count, NEVOD_TEXT("key")))), secret(text(nevod_find(values, count, NEVOD_TEXT("secret"))))
    {
    }

    ~Scheme() { nevod_wipe(secret.data(), secret.size()); }

    void authorize(const nevod_view *view, const nevod_edits *edits) const
    {
        edits->set_header(edits->host, NEVOD_TEXT("X-Key"), bytes(key));
        edits->set_header(edits->host, NEVOD_TEXT("X-Secret"), bytes(secret));
        edits->set_header(edits->host, NEVOD_TEXT("X-Time"), bytes(std::to_string(view->unix_time_ns / 1'000'000'000)));
    }
};

// No exception may leave a function of the contract.
int32_t create(const nevod_scheme *, const nevod_host *, const nevod_pair *values, uint32_t count, void **out,
               const nevod_errors *errors)
try {
    auto *scheme = new Scheme(values, count);
    if (!scheme->key.empty() && !scheme->secret.empty()) {
        *out = scheme;
        return NEVOD_OK;
    }
    int32_t status = nevod_fail(errors, NEVOD_BAD_SETTINGS, scheme->key.empty() ? "key" : "secret", "must not be empty");
    delete scheme;
    return status;
} catch (const std::bad_alloc &) {
    return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
}

void destroy(void *scheme) { delete static_cast<Scheme *>(scheme); }

int32_t authorize(void *scheme, const void *, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors)
try {
    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "this credential is for a server, not for a proxy");
    static_cast<const Scheme *>(scheme)->authorize(view, edits);
    return NEVOD_OK;
} catch (const std::bad_alloc &) {
    return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
}

const nevod_setting key_setting = NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED, "key", "", "Sent in X-Key");
const nevod_setting secret_setting =
    NEVOD_SETTING(NEVOD_SETTING_TEXT, uint32_t(NEVOD_SETTING_REQUIRED) | NEVOD_SETTING_SECRET, "secret", "", "Sent in X-Secret");
const nevod_setting *const settings[] = {&key_setting, &secret_setting};

const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .id = NEVOD_BYTES("acme-keys"), .title = NEVOD_BYTES("A key, its secret and the time"),
    .settings = settings, .setting_count = 2,
    .create = create, .destroy = destroy, .authorize = authorize};
const nevod_scheme *const schemes[] = {&scheme};

const nevod_plugin plugin = {
    .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
    .schemes = schemes, .scheme_count = 1,
    .name = NEVOD_BYTES("AcmeKeysAuth"), .version = NEVOD_BYTES("0.1.0"), .vendor = NEVOD_BYTES("you")};

} // namespace

const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
