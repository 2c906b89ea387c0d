/* Shared by the probes: bounded text, fields by name, base64url, digests. */
#ifndef PROBE_H
#define PROBE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/evp.h>

#include "nevod_plugin.h"

/* Text of bounded length, followed by a terminator. A text that didn't fit is marked as cut, and must not be used. */
typedef struct text {
    size_t count;
    int is_cut;
    char data[8192];
} text;

static inline void clear(text *to) {
    to->count = 0;
    to->is_cut = 0;
    to->data[0] = 0;
}

static inline void put(text *to, const void *data, uint64_t count) {
    if (count >= sizeof to->data - to->count) {
        to->is_cut = 1;
        return;
    }
    if (count > 0) memcpy(to->data + to->count, data, count);
    to->count += count;
    to->data[to->count] = 0;
}

static inline void put_bytes(text *to, nevod_bytes bytes) { put(to, bytes.data, bytes.count); }
static inline void put_text(text *to, const char *string) { put(to, string, strlen(string)); }

__attribute__((format(printf, 2, 3))) static inline void print(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof to->data - to->count;
    const int count = vsnprintf(to->data + to->count, room, format, arguments);
    va_end(arguments);
    if (count < 0 || (size_t)count >= room) to->is_cut = 1;
    else to->count += (size_t)count;
}

static inline nevod_bytes bytes(const char *string) {
    return (nevod_bytes){ (const uint8_t *)string, strlen(string) };
}

static inline nevod_bytes bytes_of(const text *from) { return (nevod_bytes){ (const uint8_t *)from->data, from->count }; }

static inline int is(nevod_bytes name, const char *known) {
    return name.count == strlen(known) && strncasecmp((const char *)name.data, known, name.count) == 0;
}

/* The first value of that name, or no bytes if there is none. */
static inline nevod_bytes value_of(const nevod_pair *pairs, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (is(pairs[i].name, name)) return pairs[i].value;
    return (nevod_bytes){ NULL, 0 };
}

static inline nevod_bytes header_of(const nevod_response *response, const char *name) {
    return value_of(response->headers, response->header_count, name);
}

/* Copies a setting's value, with a terminator. False if it doesn't fit. */
static inline int copy(char *to, size_t size, nevod_bytes from) {
    if (from.count >= size) return 0;
    if (from.count > 0) memcpy(to, from.data, from.count);
    to[from.count] = 0;
    return 1;
}

static inline void put_hex(text *to, const uint8_t *data, size_t count) {
    for (size_t i = 0; i < count; i++) print(to, "%02x", data[i]);
}

static inline void put_base64url(text *to, const uint8_t *data, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < count; i += 3) {
        const size_t rest = count - i;
        const uint32_t group = (uint32_t)data[i] << 16 | (rest > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (rest > 2 ? data[i + 2] : 0);
        const char four[4] = { digits[group >> 18], digits[group >> 12 & 63], digits[group >> 6 & 63], digits[group & 63] };
        put(to, four, rest > 2 ? 4 : rest + 1);
    }
}

static inline void put_base64(text *to, const uint8_t *data, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const size_t rest = count - i;
        const uint32_t group = (uint32_t)data[i] << 16 | (rest > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (rest > 2 ? data[i + 2] : 0);
        const char four[4] = { digits[group >> 18], digits[group >> 12 & 63], rest > 1 ? digits[group >> 6 & 63] : '=',
                               rest > 2 ? digits[group & 63] : '=' };
        put(to, four, 4);
    }
}

/* Decodes base64 with its padding. Returns the number of bytes, or -1. */
static inline int from_base64(uint8_t *to, size_t size, const char *from, size_t count) {
    if (count % 4 != 0 || count / 4 * 3 > size) return -1;
    int made = EVP_DecodeBlock(to, (const uint8_t *)from, (int)count);
    for (size_t i = count; made > 0 && i > 0 && from[i - 1] == '='; i--) made--;
    return made;
}

/* HMAC-SHA-256, of 32 bytes. */
static inline void hmac_sha256(uint8_t *to, const void *key, size_t key_count, const void *data, size_t count) {
    size_t made = 0;
    if (!EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_count, data, count, to, 32, &made)) memset(to, 0, 32);
}

static inline void put_percent_encoded(text *to, nevod_bytes from, const char *also) {
    for (uint64_t i = 0; i < from.count; i++) {
        const char byte = (char)from.data[i];
        const int is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (byte != 0 && (is_plain || strchr("-._~", byte) || strchr(also, byte))) put(to, &byte, 1);
        else print(to, "%%%02X", from.data[i]);
    }
}

static inline void put_digest(text *to, const char *algorithm, nevod_bytes of) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    size_t count = 0;
    if (EVP_Q_digest(NULL, algorithm, NULL, of.data, of.count, digest, &count) != 1) to->is_cut = 1;
    else put_hex(to, digest, count);
}

/* The text or number of an object's member. This is enough for OAuth servers. It decodes only one-byte escapes. */
static inline void json_member(nevod_bytes json, const char *name, text *value) {
    text key;
    int depth = 0, is_value = 0;
    clear(value), clear(&key);
    for (uint64_t i = 0; i < json.count; i++) {
        const char byte = (char)json.data[i];
        if (byte == '{' || byte == '[') depth++;
        if (byte == '}' || byte == ']') depth--;
        if (byte == ':') is_value = 1;
        if (byte == ',' || byte == '{') is_value = 0;
        const int is_wanted = is_value && depth == 1 && strcmp(key.data, name) == 0;
        if (byte == '"') {
            text string;
            clear(&string);
            for (i++; i < json.count && json.data[i] != '"'; i++) {
                if (json.data[i] == '\\' && i + 1 < json.count) i++;
                put(&string, json.data + i, 1);
            }
            if (is_wanted) return put(value, string.data, string.count);
            if (!is_value) clear(&key), put(&key, string.data, string.count);
        } else if (is_wanted && ((byte >= '0' && byte <= '9') || byte == '-')) {
            for (; i < json.count && strchr("0123456789.eE+-", (char)json.data[i]); i++) put(value, json.data + i, 1);
            return;
        }
    }
}

static inline int32_t fail(const nevod_errors *errors, int32_t status, const char *subject, const char *message) {
    errors->report(errors->host, bytes(subject), bytes(message), (nevod_bytes){ NULL, 0 });
    return status;
}

/* The only entry point, for a plugin with one scheme. */
#define PROBE_PLUGIN(title, scheme)                                                          \
    static const nevod_scheme *const schemes[] = { &scheme };                                \
    static const nevod_plugin plugin = {                                                     \
        .struct_size = sizeof(nevod_plugin),                                                 \
        .abi_major = NEVOD_ABI_MAJOR,                                                        \
        .abi_draft = NEVOD_ABI_DRAFT,                                                        \
        .scheme_count = 1,                                                                   \
        .schemes = schemes,                                                                  \
        .name = NEVOD_BYTES(title),                                                          \
        .version = NEVOD_BYTES("1.0.0"),                                                     \
    };                                                                                       \
    NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }

#define PROBE_SETTING(variable, setting_name, setting_kind, setting_flags)                    \
    static const nevod_setting variable = {                                                  \
        .struct_size = sizeof(nevod_setting),                                                \
        .kind = setting_kind,                                                                \
        .flags = setting_flags,                                                              \
        .name = NEVOD_BYTES(setting_name),                                                   \
        .help = NEVOD_BYTES("A setting of a probe"),                                         \
    }

#endif
