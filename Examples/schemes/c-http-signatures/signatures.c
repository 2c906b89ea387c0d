/*
 * HTTP Message Signatures (RFC 9421) with Ed25519, as a NevodHost plugin in C. From the root of the repository:
 *
 * cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wl,-z,defs -ISources/NevodPluginABI/include -IBindings/C \
 *     Examples/schemes/c-http-signatures/signatures.c -lcrypto -o libSignaturesC.so
 *
 * It has no token: its key is its credential. Needs OpenSSL 3. Part of NevodHost. MIT licence.
 */
#include "nevod_helpers.h"

#include <openssl/evp.h>

/* An instance never changes after `create`, so any number of threads may read it. */
typedef struct instance {
    EVP_PKEY *key;
    nevod_buffer key_id, components;
} instance;

static void destroy(void *pointer)
{
    instance *self = pointer;
    EVP_PKEY_free(self->key);
    nevod_buffer_free(&self->key_id);
    nevod_buffer_free(&self->components);
    free(self);
}

/* Decodes the base64 of a PEM. A PKCS #8 key (RFC 8410 §7) has a fixed beginning and then 32 bytes. (OpenSSL's own PEM reader would
 * ask for an encrypted key's passphrase at the terminal, which a plugin must leave alone.) */
static EVP_PKEY *read_key(nevod_bytes pem)
{
    static const uint8_t beginning[] = {0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20};
    EVP_PKEY *key = NULL;
    nevod_buffer der = nevod_buffer_empty();
    nevod_bytes rest = nevod_trim(pem);
    nevod_bytes first = nevod_trim(nevod_split(&rest, '\n')), base64 = nevod_trim(nevod_split(&rest, '\n'));
    if (nevod_equal(first, NEVOD_TEXT("-----BEGIN PRIVATE KEY-----")) && nevod_equal(rest, NEVOD_TEXT("-----END PRIVATE KEY-----"))
        && nevod_read_base64(base64, NEVOD_BASE64, &der) && der.count == sizeof beginning + 32
        && nevod_starts_with(nevod_written(&der), nevod_span(beginning, sizeof beginning)))
        key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, der.data + sizeof beginning, 32);
    nevod_buffer_free(&der);
    return key;
}

/* Whether the text needs no escapes within the quotes of a structured field (RFC 9651 §3.3.3). */
static int is_plain(nevod_bytes text)
{
    for (uint64_t i = 0; i < text.count; i++)
        if (text.data[i] < ' ' || text.data[i] > '~' || text.data[i] == '"' || text.data[i] == '\\')
            return 0;
    return text.count > 0;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)host;
    nevod_bytes key_id = nevod_find(values, value_count, NEVOD_TEXT("key-id"));
    nevod_bytes components = nevod_find(values, value_count, NEVOD_TEXT("components"));
    if (!is_plain(key_id))
        return nevod_fail(errors, NEVOD_BAD_SETTINGS, "key-id", "must be printable ASCII without quotes and backslashes");
    if (!is_plain(components))
        return nevod_fail(errors, NEVOD_BAD_SETTINGS, "components", "must be names with spaces between them");
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
    self->key_id = nevod_copy(key_id);
    self->components = nevod_copy(components);
    self->key = read_key(nevod_find(values, value_count, NEVOD_TEXT("private-key")));
    if (self->key == NULL || self->key_id.failed || self->components.failed) {
        int has_key = self->key != NULL;
        destroy(self);
        return has_key ? nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory")
                       : nevod_fail(errors, NEVOD_BAD_SETTINGS, "private-key", "must be an Ed25519 key in PEM, without a passphrase");
    }
    *out = self;
    return NEVOD_OK;
}

static const nevod_needs *needs(void *self)
{
    static const nevod_bytes digests[] = {NEVOD_BYTES("sha-256")};
    static const nevod_needs asked = {.struct_size = sizeof asked, .flags = NEVOD_NEED_HEADERS, .digests = digests, .digest_count = 1};
    return (void)self, &asked;
}

/* A header's value: all lines of that name, each without surrounding white space (RFC 9421 §2.1). */
static int append_field(nevod_buffer *to, const nevod_view *view, nevod_bytes name)
{
    int found = 0;
    for (uint32_t i = 0; i < view->header_count; i++)
        if (nevod_equal_ignoring_case(view->headers[i].name, name)) {
            nevod_append_text(to, found ? ", " : "");
            nevod_append(to, nevod_trim(view->headers[i].value));
            found = 1;
        }
    return found;
}

/* A caller's own Host line may have a default port, which isn't signed (RFC 9421 §2.2.3). */
static nevod_bytes authority_of(const nevod_view *view)
{
    nevod_bytes port = nevod_equal(view->scheme, NEVOD_TEXT("https")) ? NEVOD_TEXT(":443") : NEVOD_TEXT(":80");
    nevod_bytes authority = view->authority;
    if (authority.count >= port.count && nevod_equal(nevod_span(authority.data + authority.count - port.count, port.count), port))
        authority.count -= port.count;
    return authority;
}

/* The value of a component (RFC 9421 §2.2). 0 if the request has none. */
static int append_component(nevod_buffer *to, const nevod_view *view, nevod_bytes name)
{
    nevod_bytes query = view->target, path = nevod_split(&query, '?');
    if (name.data[0] != '@')
        return append_field(to, view, name);
    if (nevod_equal(name, NEVOD_TEXT("@method"))) {
        nevod_append(to, view->method);
    } else if (nevod_equal(name, NEVOD_TEXT("@scheme"))) {
        nevod_append(to, view->scheme);
    } else if (nevod_equal(name, NEVOD_TEXT("@authority"))) {
        nevod_bytes authority = authority_of(view);
        for (uint64_t i = 0; i < authority.count; i++) {
            uint8_t byte = authority.data[i];
            nevod_append_byte(to, byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte);
        }
    } else if (nevod_equal(name, NEVOD_TEXT("@target-uri"))) {
        nevod_append(to, view->scheme);
        nevod_append_text(to, "://");
        nevod_append(to, view->authority);
        nevod_append(to, view->target);
    } else if (nevod_equal(name, NEVOD_TEXT("@request-target"))) {
        nevod_append(to, view->target);
    } else if (nevod_equal(name, NEVOD_TEXT("@path"))) {
        nevod_append(to, path);
    } else if (nevod_equal(name, NEVOD_TEXT("@query"))) {
        nevod_append_text(to, "?");
        nevod_append(to, query);
    } else {
        return 0;
    }
    return 1;
}

/* Writes the signed lines, and the covered components with their parameters (RFC 9421 §2.3, §2.5). */
static int32_t describe(const instance *self, const nevod_view *view, const nevod_buffer *digest, nevod_buffer *base,
                        nevod_buffer *input, const nevod_errors *errors)
{
    nevod_bytes rest = nevod_written(&self->components);
    nevod_append_text(input, "(");
    while (rest.count > 0) {
        nevod_bytes name = nevod_split(&rest, ' ');
        int is_digest = nevod_equal(name, NEVOD_TEXT("content-digest"));
        if (name.count == 0 || (is_digest && digest->count == 0))
            continue;
        nevod_append_text(base, "\"");
        nevod_append(base, name);
        nevod_append_text(base, "\": ");
        if (is_digest)
            nevod_append(base, nevod_written(digest));
        else if (!append_component(base, view, name))
            return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "the request lacks a component that the signature should cover");
        nevod_append_text(base, "\n");
        nevod_append_text(input, input->count > 1 ? " \"" : "\"");
        nevod_append(input, name);
        nevod_append_text(input, "\"");
    }
    nevod_append_text(input, ");created=");
    nevod_append_decimal(input, view->unix_time_ns / 1000000000);
    nevod_append_text(input, ";keyid=\"");
    nevod_append(input, nevod_written(&self->key_id));
    nevod_append_text(input, "\"");
    nevod_append_text(base, "\"@signature-params\": ");
    nevod_append(base, nevod_written(input));
    return NEVOD_OK;
}

static int sign(const instance *self, const nevod_buffer *base, nevod_buffer *to)
{
    uint8_t signature[64];
    size_t size = sizeof signature;
    EVP_MD_CTX *context = base->failed ? NULL : EVP_MD_CTX_new();
    int ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, self->key) == 1
        && EVP_DigestSign(context, signature, &size, base->data, base->count) == 1;
    EVP_MD_CTX_free(context);
    nevod_append_text(to, "sig=:");
    nevod_append_base64(to, nevod_span(signature, ok ? size : 0), NEVOD_BASE64);
    nevod_append_text(to, ":");
    return ok;
}

static int32_t authorize(void *pointer, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    nevod_buffer digest = nevod_buffer_empty(), base = digest, input = digest, signature = digest;
    int32_t status = NEVOD_OK;
    (void)token;
    if (!nevod_is_known(view) || view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "a signature is for a server, and a body of a known kind");
    if (view->body_kind != NEVOD_BODY_NONE) {
        nevod_bytes sha256 = nevod_find(view->digests, view->digest_count, NEVOD_TEXT("sha-256"));
        if (sha256.count == 0)
            return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "the body has no digest to sign: it can be read only once");
        nevod_append_text(&digest, "sha-256=:");
        nevod_append_base64(&digest, sha256, NEVOD_BASE64);
        nevod_append_text(&digest, ":");
    }
    status = describe(pointer, view, &digest, &base, &input, errors);
    if (status == NEVOD_OK && (!sign(pointer, &base, &signature) || digest.failed || input.failed || signature.failed))
        status = nevod_fail(errors, NEVOD_INTERNAL, "", "could not compute the signature");
    if (status == NEVOD_OK) {
        nevod_buffer labelled = nevod_copy(NEVOD_TEXT("sig="));
        nevod_append(&labelled, nevod_written(&input));
        if (digest.count > 0)
            edits->set_header(edits->host, NEVOD_TEXT("Content-Digest"), nevod_written(&digest));
        edits->set_header(edits->host, NEVOD_TEXT("Signature-Input"), nevod_written(&labelled));
        edits->set_header(edits->host, NEVOD_TEXT("Signature"), nevod_written(&signature));
        nevod_buffer_free(&labelled);
    }
    nevod_buffer_free(&digest);
    nevod_buffer_free(&base);
    nevod_buffer_free(&input);
    nevod_buffer_free(&signature);
    return status;
}

static const nevod_setting key_id_setting =
    NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED, "key-id", "", "The key's name at the server");
static const nevod_setting key_setting = NEVOD_SETTING(
    NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET, "private-key", "", "An Ed25519 key in PEM");
static const nevod_setting components_setting = NEVOD_SETTING(
    NEVOD_SETTING_TEXT, 0, "components", "@method @target-uri content-digest", "The signature covers these, content-digest if there is a body");
static const nevod_setting *const settings[] = {&key_id_setting, &key_setting, &components_setting};

static const nevod_scheme signatures = {
    .struct_size = sizeof(nevod_scheme), .id = NEVOD_BYTES("http-signatures"), .title = NEVOD_BYTES("HTTP Message Signatures"),
    .settings = settings, .setting_count = 3, .create = create, .destroy = destroy, .needs = needs, .authorize = authorize,
};
static const nevod_scheme *const schemes[] = {&signatures};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1,
        .schemes = schemes, .name = NEVOD_BYTES("SignaturesC"), .version = NEVOD_BYTES("1.0.0"),
        .vendor = NEVOD_BYTES("NevodHost"),
    };
    return &plugin;
}
