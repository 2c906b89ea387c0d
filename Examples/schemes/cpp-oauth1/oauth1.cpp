/*
 * OAuth 1.0a (RFC 5849) with HMAC-SHA256 or HMAC-SHA1, as a NevodHost plugin in C++. From the root of the repository:
 *
 * c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden -Wl,-z,defs \
 *     -Wl,--version-script=Examples/schemes/cpp-oauth1/exports.map -static-libstdc++ -static-libgcc \
 *     -ISources/NevodPluginABI/include -IBindings/C Examples/schemes/cpp-oauth1/oauth1.cpp -lcrypto -o libOAuth1Cpp.so
 *
 * Its settings are its credential. Needs OpenSSL 3. Part of NevodHost. MIT licence.
 */
#include "nevod_helpers.h"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace {

std::string_view view_of(nevod_bytes bytes)
{
    return bytes.count == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char *>(bytes.data), bytes.count);
}

nevod_bytes bytes_of(std::string_view text) { return nevod_span(text.data(), text.size()); }

/* Owns a nevod_buffer. */
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { nevod_buffer_free(&raw); }

    std::string_view text() const
    {
        if (raw.failed)
            throw std::bad_alloc();
        return view_of(nevod_written(&raw));
    }

    nevod_buffer raw = nevod_buffer_empty();
};

std::string encoded(std::string_view text)
{
    Buffer buffer;
    nevod_append_percent(&buffer.raw, bytes_of(text));
    return std::string(buffer.text());
}

/* A failure with its status, which the contract's functions report. */
struct Failure {
    int32_t status;
    const char *subject;
    const char *message;
};

/* Nothing may unwind into the host. */
template <typename Body> int32_t guarded(const nevod_errors *errors, Body body)
{
    try {
        body();
        return NEVOD_OK;
    } catch (const Failure &failure) {
        return nevod_fail(errors, failure.status, failure.subject, failure.message);
    } catch (const std::exception &) {
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    } catch (...) {
        return nevod_fail(errors, NEVOD_INTERNAL, "", "an unknown exception");
    }
}

using Parameters = std::vector<std::pair<std::string, std::string>>; /* both encoded */

/* Adds the fields of a query or a form (RFC 5849 §3.4.1.3.1). */
void add_fields(Parameters &to, std::string_view form)
{
    nevod_bytes rest = bytes_of(form);
    for (;;) {
        Buffer name, value;
        int state = nevod_form_next(&rest, &name.raw, &value.raw);
        if (state == 0)
            return;
        if (state < 0)
            throw Failure{NEVOD_UNSUPPORTED, "", "the query or form has a % without two hex digits, so it can't be signed"};
        to.emplace_back(encoded(name.text()), encoded(value.text()));
    }
}

/* An instance never changes, so any number of threads may read it. */
class OAuth1 {
public:
    OAuth1(const nevod_pair *values, uint32_t count)
    {
        auto value = [&](std::string_view name) { return view_of(nevod_find(values, count, bytes_of(name))); };
        consumer_key = value("consumer-key");
        token = value("token-key");
        realm = value("realm");
        uses_sha256 = value("method") != "HMAC-SHA1";
        if (realm.find_first_of("\"\\\r\n") != std::string::npos)
            throw Failure{NEVOD_BAD_SETTINGS, "realm", "must have no quotes, backslashes and line breaks"};
        nevod_append_percent(&key.raw, bytes_of(value("consumer-secret")));
        nevod_append_text(&key.raw, "&");
        nevod_append_percent(&key.raw, bytes_of(value("token-secret")));
        if (key.text().size() > 65536)
            throw Failure{NEVOD_BAD_SETTINGS, "consumer-secret", "is too long"};
    }

    void authorize(const nevod_view &view, const nevod_edits &edits) const
    {
        if (!nevod_is_known(&view) || view.target_kind != NEVOD_TARGET_ORIGIN)
            throw Failure{NEVOD_UNSUPPORTED, "", "OAuth 1 signs requests to a server, with a body of a known kind"};
        const std::string_view target = view_of(view.target);
        const size_t mark = std::min(target.find('?'), target.size());

        Parameters own = {
            {"oauth_consumer_key", encoded(consumer_key)},
            {"oauth_nonce", nonce(view)},
            {"oauth_signature_method", uses_sha256 ? "HMAC-SHA256" : "HMAC-SHA1"},
            {"oauth_timestamp", std::to_string(view.unix_time_ns / 1000000000)},
            {"oauth_version", "1.0"},
        };
        if (!token.empty())
            own.emplace_back("oauth_token", encoded(token));

        Parameters all = own;
        if (mark < target.size())
            add_fields(all, target.substr(mark + 1));
        if (is_form(view)) {
            if (view.body_kind == NEVOD_BODY_STREAM)
                throw Failure{NEVOD_UNSUPPORTED, "", "a form that is read as a stream can't be signed"};
            add_fields(all, view_of(view.body));
        }
        std::sort(all.begin(), all.end());
        std::string normalized;
        for (const auto &[name, value] : all)
            normalized += (normalized.empty() ? "" : "&") + name + "=" + value;

        std::string authority(view_of(view.authority));
        std::transform(authority.begin(), authority.end(), authority.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        // A caller's own Host line may have a default port, which isn't signed (RFC 5849 §3.4.1.2).
        const std::string_view port = view_of(view.scheme) == "https" ? ":443" : ":80";
        if (authority.size() >= port.size() && authority.compare(authority.size() - port.size(), port.size(), port) == 0)
            authority.resize(authority.size() - port.size());
        const std::string uri = std::string(view_of(view.scheme)) + "://" + authority + std::string(target.substr(0, mark));
        own.emplace_back("oauth_signature", encoded(sign(encoded(view_of(view.method)) + "&" + encoded(uri) + "&" + encoded(normalized))));

        std::string header = "OAuth ";
        if (!realm.empty())
            header += "realm=\"" + realm + "\", ";
        for (size_t i = 0; i < own.size(); i++)
            header += (i == 0 ? "" : ", ") + own[i].first + "=\"" + own[i].second + "\"";
        edits.set_header(edits.host, NEVOD_TEXT("Authorization"), bytes_of(header));
    }

private:
    static std::string nonce(const nevod_view &view)
    {
        if (view.random.count < 16)
            throw Failure{NEVOD_INTERNAL, "", "the host gave no random bytes"};
        Buffer hex;
        nevod_append_hex(&hex.raw, nevod_span(view.random.data, 16));
        return std::string(hex.text());
    }

    static bool is_form(const nevod_view &view)
    {
        nevod_bytes type = nevod_header(view.headers, view.header_count, NEVOD_TEXT("Content-Type"));
        type = nevod_trim(nevod_split(&type, ';'));
        return view.body_kind != NEVOD_BODY_NONE && nevod_equal_ignoring_case(type, NEVOD_TEXT("application/x-www-form-urlencoded"));
    }

    std::string sign(const std::string &base) const
    {
        const std::string_view secret = key.text();
        uint8_t mac[EVP_MAX_MD_SIZE];
        unsigned int count = 0;
        if (HMAC(uses_sha256 ? EVP_sha256() : EVP_sha1(), secret.data(), static_cast<int>(secret.size()),
                 reinterpret_cast<const uint8_t *>(base.data()), base.size(), mac, &count) == nullptr)
            throw Failure{NEVOD_INTERNAL, "", "OpenSSL could not compute the signature"};
        Buffer text;
        nevod_append_base64(&text.raw, nevod_span(mac, count), NEVOD_BASE64);
        return std::string(text.text());
    }

    std::string consumer_key, token, realm;
    Buffer key; /* wiped when it is freed */
    bool uses_sha256 = true;
};

int32_t create(const nevod_scheme *, const nevod_host *, const nevod_pair *values, uint32_t count, void **out,
               const nevod_errors *errors)
{
    return guarded(errors, [&] { *out = new OAuth1(values, count); });
}

void destroy(void *instance) { delete static_cast<OAuth1 *>(instance); }

const nevod_needs *needs(void *)
{
    static const nevod_needs asked = {
        sizeof(nevod_needs), NEVOD_NEED_BODY | NEVOD_NEED_HEADERS | NEVOD_NEED_RANDOM, nullptr, nullptr, nullptr, 0, 0, 0, 0, nullptr};
    return &asked;
}

int32_t authorize(void *instance, const void *, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors)
{
    return guarded(errors, [&] { static_cast<const OAuth1 *>(instance)->authorize(*view, *edits); });
}

constexpr uint32_t required_secret = NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET;
const nevod_setting consumer_key =
    NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED, "consumer-key", "", "The client's name at the server");
const nevod_setting consumer_secret = NEVOD_SETTING(NEVOD_SETTING_TEXT, required_secret, "consumer-secret", "", "The client's secret");
const nevod_setting token = NEVOD_SETTING(NEVOD_SETTING_TEXT, 0, "token-key", "", "The access token's name, if there is one");
const nevod_setting token_secret = NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_SECRET, "token-secret", "", "The access token's secret");
const nevod_setting realm = NEVOD_SETTING(NEVOD_SETTING_TEXT, 0, "realm", "", "The realm, if the server asks for one");
const nevod_bytes methods[] = {NEVOD_BYTES("HMAC-SHA256"), NEVOD_BYTES("HMAC-SHA1")};
const nevod_setting method = {sizeof(nevod_setting), NEVOD_SETTING_CHOICE, 0, 2, methods, NEVOD_BYTES("method"),
                              NEVOD_BYTES("HMAC-SHA256"), NEVOD_BYTES("How to sign")};
const nevod_setting *const settings[] = {&consumer_key, &consumer_secret, &token, &token_secret, &method, &realm};

nevod_scheme made_scheme()
{
    nevod_scheme scheme = {};
    scheme.struct_size = sizeof scheme;
    scheme.id = NEVOD_TEXT("oauth1");
    scheme.title = NEVOD_TEXT("OAuth 1.0a");
    scheme.settings = settings;
    scheme.setting_count = sizeof settings / sizeof settings[0];
    scheme.create = create;
    scheme.destroy = destroy;
    scheme.needs = needs;
    scheme.authorize = authorize;
    return scheme;
}

} // namespace

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_scheme scheme = made_scheme();
    static const nevod_scheme *const schemes[] = {&scheme};
    static const nevod_plugin plugin = {
        sizeof(nevod_plugin), NEVOD_ABI_MAJOR, NEVOD_ABI_DRAFT, 0, schemes, 1, 0,
        NEVOD_BYTES("OAuth1Cpp"), NEVOD_BYTES("1.0.0"), NEVOD_BYTES("NevodHost"), nullptr};
    return &plugin;
}
