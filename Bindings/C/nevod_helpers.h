/*
 * nevod_helpers.h - optional helpers for plugins in C11 and C++17, in one header
 *
 * Copy this file beside nevod_plugin.h and include it. Everything is `static inline`: nothing to link, and no global state.
 *
 *   Bytes      nevod_equal, nevod_equal_ignoring_case, nevod_equal_secret, nevod_trim, nevod_split, nevod_find, nevod_header,
 *              nevod_is_known, nevod_is_known_response
 *   Buffers    nevod_buffer grows, and is wiped when freed. Every nevod_append… writes to one; every nevod_read… that gives bytes
 *              appends them to one
 *   Formats    decimal, hex, base64, percent-encoding, forms, JSON, ISO 8601 and IMF-fixdate
 *   Flows      NEVOD_FLOW, NEVOD_AWAIT and NEVOD_FLOW_END write a flow from top to bottom; nevod_ask, nevod_get, nevod_post_form,
 *              nevod_keep and nevod_issue are its actions
 *
 * RULES
 *
 *   Memory     Only buffers allocate. If memory runs out, a buffer remembers it in `failed`, and later writes do nothing; check
 *              once, at the end.
 *   Results    Functions that can be handed invalid text return 1, or 0 if it is invalid; a buffer they append to may then
 *              contain a part of it.
 *   Threads    Any function on any thread; a buffer on one thread at once.
 *
 * Part of NevodHost. MIT licence.
 */
#ifndef NEVOD_HELPERS_H
#define NEVOD_HELPERS_H

#include "nevod_plugin.h"

#include <stdlib.h>
#include <string.h>

/* Most plugins use only some of these, and clang warns about unused static functions in a main file. */
#if defined(__GNUC__)
#define NEVOD_HELPER __attribute__((unused)) static inline
#else
#define NEVOD_HELPER static inline
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* Bytes.                                                                                                            */

NEVOD_HELPER nevod_bytes nevod_span(const void *data, size_t count)
{
    nevod_bytes bytes;
    bytes.data = (const uint8_t *)data;
    bytes.count = count;
    return bytes;
}

/* A string literal, or an array of characters with a terminator. */
#define NEVOD_TEXT(literal) nevod_span((literal), sizeof(literal) - 1)

#define NEVOD_NOTHING nevod_span(NULL, 0)

/* `text` has a terminator. */
NEVOD_HELPER nevod_bytes nevod_text(const char *text) { return nevod_span(text, strlen(text)); }

NEVOD_HELPER int nevod_equal(nevod_bytes a, nevod_bytes b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, (size_t)a.count) == 0);
}

/* The letters A-Z and a-z are equal, as in the names of headers (RFC 9110 §5.1) and of authentication schemes (§11.1). */
NEVOD_HELPER int nevod_equal_ignoring_case(nevod_bytes a, nevod_bytes b)
{
    if (a.count != b.count)
        return 0;
    for (uint64_t i = 0; i < a.count; i++) {
        uint8_t x = a.data[i], y = b.data[i];
        if (x >= 'A' && x <= 'Z')
            x = (uint8_t)(x + 32);
        if (y >= 'A' && y <= 'Z')
            y = (uint8_t)(y + 32);
        if (x != y)
            return 0;
    }
    return 1;
}

/* Takes the same time wherever the two differ, so that nobody can guess a signature byte by byte. The lengths aren't secret. */
NEVOD_HELPER int nevod_equal_secret(nevod_bytes a, nevod_bytes b)
{
    volatile uint8_t difference = 0;
    if (a.count != b.count)
        return 0;
    for (uint64_t i = 0; i < a.count; i++)
        difference = (uint8_t)(difference | (a.data[i] ^ b.data[i]));
    return difference == 0;
}

NEVOD_HELPER int nevod_starts_with(nevod_bytes bytes, nevod_bytes prefix)
{
    return bytes.count >= prefix.count && nevod_equal(nevod_span(bytes.data, (size_t)prefix.count), prefix);
}

/* Without spaces, tabs, CR and LF at both ends. */
NEVOD_HELPER nevod_bytes nevod_trim(nevod_bytes bytes)
{
    while (bytes.count > 0 && strchr(" \t\r\n", bytes.data[0]) != NULL && bytes.data[0] != 0) {
        bytes.data++;
        bytes.count--;
    }
    while (bytes.count > 0 && strchr(" \t\r\n", bytes.data[bytes.count - 1]) != NULL && bytes.data[bytes.count - 1] != 0)
        bytes.count--;
    return bytes;
}

/* Takes the bytes up to the next `separator` off `rest`, and removes the separator. Without a separator, takes all of it. */
NEVOD_HELPER nevod_bytes nevod_split(nevod_bytes *rest, uint8_t separator)
{
    const uint8_t *found = rest->count == 0 ? NULL : (const uint8_t *)memchr(rest->data, separator, (size_t)rest->count);
    nevod_bytes piece = *rest;
    if (found == NULL) {
        *rest = NEVOD_NOTHING;
    } else {
        piece.count = (uint64_t)(found - piece.data);
        rest->data = found + 1;
        rest->count -= piece.count + 1;
    }
    return piece;
}

/* The value of the first pair of that name, or no bytes: a setting, an answer, a digest. */
NEVOD_HELPER nevod_bytes nevod_find(const nevod_pair *pairs, uint32_t count, nevod_bytes name)
{
    for (uint32_t i = 0; i < count; i++)
        if (nevod_equal(pairs[i].name, name))
            return pairs[i].value;
    return NEVOD_NOTHING;
}

/* The value of the first header line of that name, in any letter case, or no bytes. */
NEVOD_HELPER nevod_bytes nevod_header(const nevod_pair *headers, uint32_t count, nevod_bytes name)
{
    for (uint32_t i = 0; i < count; i++)
        if (nevod_equal_ignoring_case(headers[i].name, name))
            return headers[i].value;
    return NEVOD_NOTHING;
}

/* Whether this file knows the kinds of the recipient and the body. A scheme rejects others with NEVOD_UNSUPPORTED. */
NEVOD_HELPER int nevod_is_known(const nevod_view *view)
{
    return (view->target_kind == NEVOD_TARGET_ORIGIN || view->target_kind == NEVOD_TARGET_PROXY)
        && view->body_kind >= NEVOD_BODY_NONE && view->body_kind <= NEVOD_BODY_STREAM;
}

/* Whether this file knows the kind of the sender and all critical flags. For other responses, `on_response` returns
 * NEVOD_VERDICT_NOTHING, and NEVOD_FLOW and NEVOD_AWAIT end the flow with NEVOD_UNSUPPORTED. */
NEVOD_HELPER int nevod_is_known_response(const nevod_response *response)
{
    return (response->target_kind == NEVOD_TARGET_ORIGIN || response->target_kind == NEVOD_TARGET_PROXY)
        && (response->flags & NEVOD_CRITICAL_BITS) == 0;
}

/* Overwrites memory, and is not optimized away. */
NEVOD_HELPER void nevod_wipe(void *memory, size_t count)
{
    volatile uint8_t *bytes = (volatile uint8_t *)memory;
    for (size_t i = 0; i < count; i++)
        bytes[i] = 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* A buffer. Begins as all zeros: `nevod_buffer buffer = {0, 0, 0, 0};`                                               */

typedef struct nevod_buffer {
    uint8_t *data;
    size_t count;
    size_t capacity;
    int failed; /* memory ran out: the contents are incomplete */
} nevod_buffer;

NEVOD_HELPER nevod_buffer nevod_buffer_empty(void)
{
    nevod_buffer buffer = {NULL, 0, 0, 0};
    return buffer;
}

/* The contents, valid until the next write. */
NEVOD_HELPER nevod_bytes nevod_written(const nevod_buffer *buffer) { return nevod_span(buffer->data, buffer->count); }

/* Wipes and frees the contents. The buffer is empty, and can be used again. */
NEVOD_HELPER void nevod_buffer_free(nevod_buffer *buffer)
{
    if (buffer->data != NULL)
        nevod_wipe(buffer->data, buffer->capacity);
    free(buffer->data);
    *buffer = nevod_buffer_empty();
}

/* Returns room for `count` more bytes, or NULL if memory ran out. The caller adds what it writes to the buffer's `count`. Wipes old
 * memory before freeing it, which realloc would not do. */
NEVOD_HELPER uint8_t *nevod_buffer_reserve(nevod_buffer *buffer, uint64_t count)
{
    if (buffer->failed)
        return NULL;
    if (count > buffer->capacity - buffer->count || buffer->data == NULL) {
        size_t half = SIZE_MAX / 2, capacity = buffer->capacity < 32 ? 64 : buffer->capacity * 2;
        uint8_t *data;
        if (buffer->count > half - 64 || count > half - buffer->count) {
            buffer->failed = 1;
            return NULL;
        }
        if (capacity < buffer->count + (size_t)count)
            capacity = buffer->count + (size_t)count;
        data = (uint8_t *)malloc(capacity);
        if (data == NULL) {
            buffer->failed = 1;
            return NULL;
        }
        if (buffer->data != NULL) {
            memcpy(data, buffer->data, buffer->count);
            nevod_wipe(buffer->data, buffer->capacity);
            free(buffer->data);
        }
        buffer->data = data;
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->count;
}

NEVOD_HELPER void nevod_append(nevod_buffer *buffer, nevod_bytes bytes)
{
    uint8_t *to = bytes.count == 0 ? NULL : nevod_buffer_reserve(buffer, bytes.count);
    if (to != NULL) {
        memcpy(to, bytes.data, (size_t)bytes.count);
        buffer->count += (size_t)bytes.count;
    }
}

/* `text` has a terminator, which is not appended. */
NEVOD_HELPER void nevod_append_text(nevod_buffer *buffer, const char *text) { nevod_append(buffer, nevod_text(text)); }

NEVOD_HELPER void nevod_append_byte(nevod_buffer *buffer, uint8_t byte) { nevod_append(buffer, nevod_span(&byte, 1)); }

/* A copy of bytes that outlives the call; free it with nevod_buffer_free. */
NEVOD_HELPER nevod_buffer nevod_copy(nevod_bytes bytes)
{
    nevod_buffer buffer = nevod_buffer_empty();
    nevod_append(&buffer, bytes);
    return buffer;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Numbers, hex, base64.                                                                                             */

/* Decimal, with leading zeros up to `width` digits: 7, 2 gives "07". */
NEVOD_HELPER void nevod_append_padded(nevod_buffer *buffer, int64_t number, int width)
{
    uint8_t digits[24];
    size_t start = sizeof digits;
    /* The magnitude is unsigned, because INT64_MIN's doesn't fit an int64_t. */
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--start] = (uint8_t)('0' + left % 10);
        left /= 10;
        width--;
    } while ((left > 0 || width > 0) && start > 1);
    if (number < 0)
        digits[--start] = '-';
    nevod_append(buffer, nevod_span(digits + start, sizeof digits - start));
}

NEVOD_HELPER void nevod_append_decimal(nevod_buffer *buffer, int64_t number) { nevod_append_padded(buffer, number, 0); }

/* Digits with an optional minus, and nothing else; 0 if it doesn't fit. */
NEVOD_HELPER int nevod_read_decimal(nevod_bytes text, int64_t *number)
{
    int negative = text.count > 0 && text.data[0] == '-';
    uint64_t value = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (text.count == (negative ? 1u : 0u))
        return 0;
    for (uint64_t i = negative ? 1 : 0; i < text.count; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');
        if (digit > 9 || value > (limit - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    *number = negative ? (value == 0 ? 0 : -(int64_t)(value - 1) - 1) : (int64_t)value;
    return 1;
}

/* The value of a hex digit, or -1. */
NEVOD_HELPER int nevod_hex_digit(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Lower case. */
NEVOD_HELPER void nevod_append_hex(nevod_buffer *buffer, nevod_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *to = bytes.count > UINT64_MAX / 2 ? NULL : nevod_buffer_reserve(buffer, 2 * bytes.count);
    if (to == NULL)
        return;
    for (uint64_t i = 0; i < bytes.count; i++) {
        *to++ = (uint8_t)digits[bytes.data[i] >> 4];
        *to++ = (uint8_t)digits[bytes.data[i] & 15];
    }
    buffer->count += 2 * (size_t)bytes.count;
}

/* Pairs of digits, in either letter case. */
NEVOD_HELPER int nevod_read_hex(nevod_bytes text, nevod_buffer *buffer)
{
    if (text.count % 2 != 0)
        return 0;
    for (uint64_t i = 0; i < text.count; i += 2) {
        int high = nevod_hex_digit(text.data[i]), low = nevod_hex_digit(text.data[i + 1]);
        if (high < 0 || low < 0)
            return 0;
        nevod_append_byte(buffer, (uint8_t)(high << 4 | low));
    }
    return 1;
}

enum {
    NEVOD_BASE64 = 0,     /* RFC 4648 §4: + and /, padded with = */
    NEVOD_BASE64_URL = 1  /* RFC 4648 §5: - and _, without padding, as in JOSE (RFC 7515 §2) */
};

NEVOD_HELPER void nevod_append_base64(nevod_buffer *buffer, nevod_bytes bytes, int alphabet)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const char *last = alphabet == NEVOD_BASE64_URL ? "-_" : "+/";
    for (uint64_t i = 0; i < bytes.count; i += 3) {
        uint64_t left = bytes.count - i;
        uint32_t group = (uint32_t)bytes.data[i] << 16;
        uint8_t out[4];
        size_t count = left >= 3 ? 4 : (size_t)left + 1;
        if (left > 1)
            group |= (uint32_t)bytes.data[i + 1] << 8;
        if (left > 2)
            group |= bytes.data[i + 2];
        for (size_t j = 0; j < 4; j++) {
            uint32_t index = group >> (18 - 6 * j) & 63;
            out[j] = (uint8_t)(index < 62 ? letters[index] : last[index - 62]);
        }
        if (alphabet != NEVOD_BASE64_URL)
            for (; count < 4; count++)
                out[count] = '=';
        nevod_append(buffer, nevod_span(out, count));
    }
}

/* Strict: rejects other letters, white space and leftover bits (RFC 4648 §3.5). NEVOD_BASE64 requires padding; NEVOD_BASE64_URL
 * rejects it. */
NEVOD_HELPER int nevod_read_base64(nevod_bytes text, int alphabet, nevod_buffer *buffer)
{
    uint32_t bits = 0;
    int count = 0;
    if (alphabet != NEVOD_BASE64_URL) {
        if (text.count % 4 != 0)
            return 0;
        for (int padding = 0; padding < 2 && text.count > 0 && text.data[text.count - 1] == '='; padding++)
            text.count--;
    }
    if (text.count % 4 == 1)
        return 0;
    for (uint64_t i = 0; i < text.count; i++) {
        uint8_t letter = text.data[i];
        uint32_t value;
        if (letter >= 'A' && letter <= 'Z')
            value = (uint32_t)(letter - 'A');
        else if (letter >= 'a' && letter <= 'z')
            value = (uint32_t)(letter - 'a') + 26;
        else if (letter >= '0' && letter <= '9')
            value = (uint32_t)(letter - '0') + 52;
        else if (letter == (alphabet == NEVOD_BASE64_URL ? '-' : '+'))
            value = 62;
        else if (letter == (alphabet == NEVOD_BASE64_URL ? '_' : '/'))
            value = 63;
        else
            return 0;
        bits = (bits << 6 | value) & 0xffff;
        count += 6;
        if (count >= 8) {
            count -= 8;
            nevod_append_byte(buffer, (uint8_t)(bits >> count & 255));
        }
    }
    return (bits & ((1u << count) - 1)) == 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Percent-encoding and forms.                                                                                       */

NEVOD_HELPER void nevod_append_escaped(nevod_buffer *buffer, nevod_bytes bytes, const char *kept, int space)
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint64_t i = 0; i < bytes.count; i++) {
        uint8_t byte = bytes.data[i];
        if ((byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')
            || (byte != 0 && strchr(kept, byte) != NULL)) {
            nevod_append_byte(buffer, byte);
        } else if (byte == ' ' && space != 0) {
            nevod_append_byte(buffer, (uint8_t)space);
        } else {
            uint8_t escape[3];
            escape[0] = '%';
            escape[1] = (uint8_t)digits[byte >> 4];
            escape[2] = (uint8_t)digits[byte & 15];
            nevod_append(buffer, nevod_span(escape, sizeof escape));
        }
    }
}

/* Escapes every byte except the unreserved ones (RFC 3986 §2.3), a space as %20: for paths and queries, and the encoding of OAuth 1
 * (RFC 5849 §3.6) and of Signature Version 4. */
NEVOD_HELPER void nevod_append_percent(nevod_buffer *buffer, nevod_bytes bytes)
{
    nevod_append_escaped(buffer, bytes, "-._~", 0);
}

/* %XX becomes its byte; `plus` is what + becomes: ' ' in a form, '+' elsewhere. 0 for a % without two hex digits. */
NEVOD_HELPER int nevod_read_percent(nevod_bytes text, uint8_t plus, nevod_buffer *buffer)
{
    for (uint64_t i = 0; i < text.count; i++) {
        uint8_t byte = text.data[i];
        if (byte == '%') {
            int high = text.count - i > 2 ? nevod_hex_digit(text.data[i + 1]) : -1;
            int low = text.count - i > 2 ? nevod_hex_digit(text.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return 0;
            byte = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (byte == '+') {
            byte = plus;
        }
        nevod_append_byte(buffer, byte);
    }
    return 1;
}

/* Appends name=value as application/x-www-form-urlencoded (WHATWG URL §5.2), with & before all but the first. Use a separate buffer
 * for each form. */
NEVOD_HELPER void nevod_append_form(nevod_buffer *form, nevod_bytes name, nevod_bytes value)
{
    if (form->count > 0)
        nevod_append_byte(form, '&');
    nevod_append_escaped(form, name, "*-._", '+');
    nevod_append_byte(form, '=');
    nevod_append_escaped(form, value, "*-._", '+');
}

/* Takes the next field off a form, and appends its decoded name and value. Returns 1; 0 at the end; -1 if it is invalid. */
NEVOD_HELPER int nevod_form_next(nevod_bytes *form, nevod_buffer *name, nevod_buffer *value)
{
    while (form->count > 0) {
        nevod_bytes field = nevod_split(form, '&');
        if (field.count > 0) {
            nevod_bytes left = nevod_split(&field, '=');
            return nevod_read_percent(left, ' ', name) && nevod_read_percent(field, ' ', value) ? 1 : -1;
        }
    }
    return 0;
}

/* Appends the decoded value of the first field of that name. 0 if there is no such field, or the form is invalid before it. */
NEVOD_HELPER int nevod_form_value(nevod_bytes form, nevod_bytes name, nevod_buffer *value)
{
    int state = 1, found = 0;
    while (state == 1 && !found) {
        nevod_buffer n = nevod_buffer_empty(), v = nevod_buffer_empty();
        state = nevod_form_next(&form, &n, &v);
        found = state == 1 && !n.failed && nevod_equal(nevod_written(&n), name);
        if (found) {
            nevod_append(value, nevod_written(&v));
            value->failed |= v.failed;
        }
        nevod_buffer_free(&n);
        nevod_buffer_free(&v);
    }
    return found;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* UTF-8 and JSON (RFC 8259). A value points into the document's text, so reading allocates nothing. First check the whole
 * document with nevod_json_read. All other functions take a value from it, or from one of them.                      */

#define NEVOD_JSON_DEPTH 64 /* nested objects and arrays; deeper ones are rejected */

/* The length of the valid UTF-8 sequence at `at` (RFC 3629), or 0. */
NEVOD_HELPER size_t nevod_utf8_length(const uint8_t *at, const uint8_t *end)
{
    size_t count = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : *at >= 0xe0 && *at < 0xf0 ? 3 : *at >= 0xf0 && *at < 0xf5 ? 4 : 0;
    if (count == 0 || (size_t)(end - at) < count)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and values beyond U+10FFFF. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf0 && at[1] < 0x90)
        || (at[0] == 0xf4 && at[1] >= 0x90))
        return 0;
    return count;
}

NEVOD_HELPER int nevod_utf8_valid(nevod_bytes text)
{
    const uint8_t *at = text.data, *end = text.count == 0 ? at : at + text.count;
    while (at != end) {
        size_t count = nevod_utf8_length(at, end);
        if (count == 0)
            return 0;
        at += count;
    }
    return 1;
}

/* Four hex digits, or -1. */
NEVOD_HELPER int32_t nevod_json_unit(const uint8_t *at, const uint8_t *end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = nevod_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Decodes one character of a string into `out`, and advances. Returns its number of bytes, or 0 if it is invalid or a quote. */
NEVOD_HELPER size_t nevod_json_character(const uint8_t **at, const uint8_t *end, uint8_t out[4])
{
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const uint8_t *p = *at;
    int32_t unit;
    uint32_t scalar;
    if (p == end || *p < 0x20 || *p == '"')
        return 0;
    if (*p != '\\') {
        size_t count = nevod_utf8_length(p, end);
        if (count > 0)
            memcpy(out, p, count);
        *at = p + count;
        return count;
    }
    if (end - p < 2)
        return 0;
    if (p[1] != 'u') {
        for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
            if (p[1] == (uint8_t)escapes[i]) {
                out[0] = (uint8_t)escapes[i + 1];
                *at = p + 2;
                return 1;
            }
        return 0;
    }
    unit = nevod_json_unit(p + 2, end);
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000))
        return 0;
    p += 6;
    scalar = (uint32_t)unit;
    if (unit >= 0xd800 && unit < 0xdc00) {
        int32_t low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? nevod_json_unit(p + 2, end) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return 0;
        scalar = 0x10000 + (((uint32_t)unit - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
        p += 6;
    }
    *at = p;
    if (scalar < 0x80) {
        out[0] = (uint8_t)scalar;
        return 1;
    }
    if (scalar < 0x800) {
        out[0] = (uint8_t)(0xc0 | scalar >> 6);
        out[1] = (uint8_t)(0x80 | (scalar & 63));
        return 2;
    }
    if (scalar < 0x10000) {
        out[0] = (uint8_t)(0xe0 | scalar >> 12);
        out[1] = (uint8_t)(0x80 | (scalar >> 6 & 63));
        out[2] = (uint8_t)(0x80 | (scalar & 63));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | scalar >> 18);
    out[1] = (uint8_t)(0x80 | (scalar >> 12 & 63));
    out[2] = (uint8_t)(0x80 | (scalar >> 6 & 63));
    out[3] = (uint8_t)(0x80 | (scalar & 63));
    return 4;
}

NEVOD_HELPER const uint8_t *nevod_json_space(const uint8_t *at, const uint8_t *end)
{
    while (at != end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* Returns the place after the string at `at`, or NULL. */
NEVOD_HELPER const uint8_t *nevod_json_skip_string(const uint8_t *at, const uint8_t *end)
{
    uint8_t out[4];
    if (at == end || *at != '"')
        return NULL;
    at++;
    while (at != end && *at != '"')
        if (nevod_json_character(&at, end, out) == 0)
            return NULL;
    return at == end ? NULL : at + 1;
}

NEVOD_HELPER const uint8_t *nevod_json_skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at != end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Returns the place after the number, true, false or null at `at`, or NULL. */
NEVOD_HELPER const uint8_t *nevod_json_skip_word(const uint8_t *at, const uint8_t *end)
{
    static const char *const words[] = {"true", "false", "null"};
    const uint8_t *start;
    for (size_t i = 0; i < 3; i++)
        if (nevod_starts_with(nevod_span(at, (size_t)(end - at)), nevod_text(words[i])))
            return at + strlen(words[i]);
    if (at != end && *at == '-')
        at++;
    start = at;
    at = nevod_json_skip_digits(at, end);
    if (at == start || (*start == '0' && at - start > 1))
        return NULL;
    if (at != end && *at == '.') {
        start = ++at;
        at = nevod_json_skip_digits(at, end);
        if (at == start)
            return NULL;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at != end && (*at == '+' || *at == '-'))
            at++;
        start = at;
        at = nevod_json_skip_digits(at, end);
        if (at == start)
            return NULL;
    }
    return at;
}

/* Returns the place after a member's name, its colon and white space, or NULL. */
NEVOD_HELPER const uint8_t *nevod_json_skip_name(const uint8_t *at, const uint8_t *end)
{
    at = nevod_json_skip_string(nevod_json_space(at, end), end);
    if (at == NULL)
        return NULL;
    at = nevod_json_space(at, end);
    return at == end || *at != ':' ? NULL : nevod_json_space(at + 1, end);
}

/* Returns the place after the value at `at`, or NULL. A loop, not recursion, so that no text can exhaust the stack. */
NEVOD_HELPER const uint8_t *nevod_json_skip(const uint8_t *at, const uint8_t *end)
{
    uint64_t objects = 0; /* a bit for each level: 1 for an object, 0 for an array */
    int depth = 0;
    for (;;) {
        int ended = 1; /* a value has ended at `at` */
        if (at == end)
            return NULL;
        if (*at == '{' || *at == '[') {
            int object = *at == '{';
            if (depth == NEVOD_JSON_DEPTH)
                return NULL;
            objects = objects << 1 | (uint64_t)object;
            depth++;
            at = nevod_json_space(at + 1, end);
            if (at == end || *at != (object ? '}' : ']')) {
                if (object)
                    at = nevod_json_skip_name(at, end);
                if (at == NULL)
                    return NULL;
                ended = 0;
            } else {
                at++;
                objects >>= 1;
                depth--;
            }
        } else {
            at = *at == '"' ? nevod_json_skip_string(at, end) : nevod_json_skip_word(at, end);
            if (at == NULL)
                return NULL;
        }
        while (ended) {
            if (depth == 0)
                return at;
            at = nevod_json_space(at, end);
            if (at == end)
                return NULL;
            if (*at == ',') {
                at = nevod_json_space(at + 1, end);
                if (objects & 1)
                    at = nevod_json_skip_name(at, end);
                if (at == NULL)
                    return NULL;
                ended = 0;
            } else if (*at == ((objects & 1) ? '}' : ']')) {
                at++;
                objects >>= 1;
                depth--;
            } else {
                return NULL;
            }
        }
    }
}

/* Checks a whole document, and gives its value. 0 if anything is invalid, even after the value. */
NEVOD_HELPER int nevod_json_read(nevod_bytes document, nevod_bytes *value)
{
    const uint8_t *start, *end, *after;
    if (document.count == 0)
        return 0;
    end = document.data + document.count;
    start = nevod_json_space(document.data, end);
    after = nevod_json_skip(start, end);
    if (after == NULL || nevod_json_space(after, end) != end)
        return 0;
    *value = nevod_span(start, (size_t)(after - start));
    return 1;
}

/* Takes the next member or element off `rest`, which begins as a whole object or array. `name` gets a member's name, a JSON string,
 * or no bytes for an element. Returns 0 at the end, and for other values. */
NEVOD_HELPER int nevod_json_next(nevod_bytes *rest, nevod_bytes *name, nevod_bytes *value)
{
    const uint8_t *at = rest->data, *end, *after;
    int object;
    *name = NEVOD_NOTHING;
    if (rest->count < 2 || (*at != '{' && *at != '[' && *at != ','))
        return 0;
    end = at + rest->count;
    object = end[-1] == '}';
    at = nevod_json_space(at + 1, end);
    if (object) {
        after = nevod_json_skip_string(at, end);
        if (after == NULL)
            return 0;
        *name = nevod_span(at, (size_t)(after - at));
        at = nevod_json_skip_name(at, end);
        if (at == NULL)
            return 0;
    }
    after = nevod_json_skip(at, end);
    if (after == NULL)
        return 0;
    *value = nevod_span(at, (size_t)(after - at));
    after = nevod_json_space(after, end);
    *rest = nevod_span(after, (size_t)(end - after));
    return 1;
}

/* Appends the text of a string, as UTF-8. 0 if it isn't a string. */
NEVOD_HELPER int nevod_json_string(nevod_bytes value, nevod_buffer *buffer)
{
    const uint8_t *at = value.data, *end;
    if (value.count < 2 || *at != '"')
        return 0;
    end = at + value.count;
    at++;
    while (at != end && *at != '"') {
        uint8_t character[4];
        size_t count = nevod_json_character(&at, end, character);
        if (count == 0)
            return 0;
        nevod_append(buffer, nevod_span(character, count));
    }
    return at != end;
}

/* Whether it is a string with this text. */
NEVOD_HELPER int nevod_json_is(nevod_bytes value, nevod_bytes text)
{
    const uint8_t *at = value.data, *end;
    if (value.count < 2 || *at != '"')
        return 0;
    end = at + value.count;
    at++;
    while (at != end && *at != '"') {
        uint8_t character[4];
        size_t count = nevod_json_character(&at, end, character);
        if (count == 0 || !nevod_starts_with(text, nevod_span(character, count)))
            return 0;
        text.data += count;
        text.count -= count;
    }
    return text.count == 0;
}

/* The value of an object's last member of that name. No bytes if there is no such member, or if this isn't an object. */
NEVOD_HELPER nevod_bytes nevod_json_member(nevod_bytes object, nevod_bytes name)
{
    nevod_bytes found = NEVOD_NOTHING, key, value;
    while (nevod_json_next(&object, &key, &value))
        if (key.count > 0 && nevod_json_is(key, name))
            found = value;
    return found;
}

/* The value of an array's element, counted from 0. No bytes if there is no such element, or if this isn't an array. */
NEVOD_HELPER nevod_bytes nevod_json_element(nevod_bytes array, uint64_t index)
{
    nevod_bytes key, value;
    while (nevod_json_next(&array, &key, &value) && key.count == 0)
        if (index-- == 0)
            return value;
    return NEVOD_NOTHING;
}

/* A number without fraction and exponent. 0 if it isn't one, or doesn't fit. */
NEVOD_HELPER int nevod_json_integer(nevod_bytes value, int64_t *number) { return nevod_read_decimal(value, number); }

/* 0 if it is neither `true` nor `false`. */
NEVOD_HELPER int nevod_json_boolean(nevod_bytes value, int *result)
{
    *result = nevod_equal(value, NEVOD_TEXT("true"));
    return *result || nevod_equal(value, NEVOD_TEXT("false"));
}

/* Appends a JSON string with its quotes. Writes U+FFFD for each invalid byte of UTF-8. */
NEVOD_HELPER void nevod_append_json(nevod_buffer *buffer, nevod_bytes text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = text.data, *end = text.count == 0 ? at : at + text.count;
    nevod_append_byte(buffer, '"');
    while (at != end) {
        size_t count = nevod_utf8_length(at, end);
        if (count == 0) {
            nevod_append_text(buffer, "\xef\xbf\xbd");
            count = 1;
        } else if (*at < 0x20) {
            nevod_append_text(buffer, "\\u00");
            nevod_append_byte(buffer, (uint8_t)digits[*at >> 4]);
            nevod_append_byte(buffer, (uint8_t)digits[*at & 15]);
        } else {
            if (*at == '"' || *at == '\\')
                nevod_append_byte(buffer, '\\');
            nevod_append(buffer, nevod_span(at, count));
        }
        at += count;
    }
    nevod_append_byte(buffer, '"');
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Dates, in seconds since 1970-01-01T00:00:00Z, of the years 0 to 9999.                                              */

typedef struct nevod_date {
    int64_t year;
    int32_t month, day, hour, minute, second;
    int32_t weekday; /* 0 for Sunday */
} nevod_date;

/* Days since 1970-01-01 in the Gregorian calendar. Here the year begins in March, so that a leap day is its last day. */
NEVOD_HELPER int64_t nevod_days(int64_t year, int32_t month, int32_t day)
{
    int64_t era, of_era, of_year;
    year -= month <= 2;
    era = (year >= 0 ? year : year - 399) / 400;
    of_era = year - era * 400;
    of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Seconds outside the years 0 to 9999 give the nearest date in that range. */
NEVOD_HELPER nevod_date nevod_date_of(int64_t seconds)
{
    const int64_t least = -62167219200, most = 253402300799;
    int64_t days, era, of_era, year_of_era, of_year, month;
    nevod_date date;
    seconds = seconds < least ? least : seconds > most ? most : seconds;
    days = (seconds - least) / 86400; /* since 0000-01-01, which was a Saturday */
    date.second = (int32_t)((seconds - least) % 60);
    date.minute = (int32_t)((seconds - least) / 60 % 60);
    date.hour = (int32_t)((seconds - least) / 3600 % 24);
    date.weekday = (int32_t)((days + 6) % 7);
    days -= 60; /* since 0000-03-01 */
    era = (days >= 0 ? days : days - 146096) / 146097;
    of_era = days - era * 146097;
    year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    month = (5 * of_year + 2) / 153;
    date.day = (int32_t)(of_year - (153 * month + 2) / 5 + 1);
    date.month = (int32_t)(month < 10 ? month + 3 : month - 9);
    date.year = year_of_era + era * 400 + (date.month <= 2);
    return date;
}

/* 0 if there is no such date, or its year is not 0 to 9999. Rejects a leap second (60). */
NEVOD_HELPER int nevod_date_seconds(const nevod_date *date, int64_t *seconds)
{
    static const int32_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = date->year % 4 == 0 && (date->year % 100 != 0 || date->year % 400 == 0);
    if (date->year < 0 || date->year > 9999 || date->month < 1 || date->month > 12 || date->day < 1
        || date->day > lengths[date->month - 1] + (date->month == 2 && leap) || date->hour < 0 || date->hour > 23
        || date->minute < 0 || date->minute > 59 || date->second < 0 || date->second > 59)
        return 0;
    *seconds = nevod_days(date->year, date->month, date->day) * 86400 + date->hour * 3600 + date->minute * 60 + date->second;
    return 1;
}

/* "1994-11-06T08:49:37Z" (RFC 3339). `compact`: "19941106T084937Z", as in Signature Version 4. */
NEVOD_HELPER void nevod_append_iso8601(nevod_buffer *buffer, int64_t seconds, int compact)
{
    const nevod_date date = nevod_date_of(seconds);
    const char *dash = compact ? "" : "-", *colon = compact ? "" : ":";
    nevod_append_padded(buffer, date.year, 4);
    nevod_append_text(buffer, dash);
    nevod_append_padded(buffer, date.month, 2);
    nevod_append_text(buffer, dash);
    nevod_append_padded(buffer, date.day, 2);
    nevod_append_text(buffer, "T");
    nevod_append_padded(buffer, date.hour, 2);
    nevod_append_text(buffer, colon);
    nevod_append_padded(buffer, date.minute, 2);
    nevod_append_text(buffer, colon);
    nevod_append_padded(buffer, date.second, 2);
    nevod_append_text(buffer, "Z");
}

/* Takes `count` digits off `text`, and then the separator unless that is 0. */
NEVOD_HELPER int nevod_read_digits(nevod_bytes *text, int count, uint8_t separator, int32_t *number)
{
    *number = 0;
    for (; count > 0; count--) {
        if (text->count == 0 || text->data[0] < '0' || text->data[0] > '9')
            return 0;
        *number = *number * 10 + (text->data[0] - '0');
        text->data++;
        text->count--;
    }
    if (separator != 0) {
        if (text->count == 0 || text->data[0] != separator)
            return 0;
        text->data++;
        text->count--;
    }
    return 1;
}

/* A date and time of RFC 3339: "1994-11-06T08:49:37Z", "1994-11-06T08:49:37.5+01:00". Drops fractions of a second. */
NEVOD_HELPER int nevod_read_iso8601(nevod_bytes text, int64_t *seconds)
{
    nevod_date date;
    int32_t year, hours = 0, minutes = 0;
    int sign = 0;
    if (!nevod_read_digits(&text, 4, '-', &year) || !nevod_read_digits(&text, 2, '-', &date.month)
        || !nevod_read_digits(&text, 2, 0, &date.day) || text.count == 0 || (text.data[0] != 'T' && text.data[0] != 't'))
        return 0;
    text.data++;
    text.count--;
    if (!nevod_read_digits(&text, 2, ':', &date.hour) || !nevod_read_digits(&text, 2, ':', &date.minute)
        || !nevod_read_digits(&text, 2, 0, &date.second))
        return 0;
    if (text.count > 0 && text.data[0] == '.') {
        uint64_t digits = 0;
        while (digits + 1 < text.count && text.data[digits + 1] >= '0' && text.data[digits + 1] <= '9')
            digits++;
        if (digits == 0)
            return 0;
        text.data += digits + 1;
        text.count -= digits + 1;
    }
    if (text.count == 1 && (text.data[0] == 'Z' || text.data[0] == 'z')) {
        text.count = 0;
    } else if (text.count > 0 && (text.data[0] == '+' || text.data[0] == '-')) {
        sign = text.data[0] == '+' ? 1 : -1;
        text.data++;
        text.count--;
        if (!nevod_read_digits(&text, 2, ':', &hours) || !nevod_read_digits(&text, 2, 0, &minutes) || hours > 23 || minutes > 59)
            return 0;
    } else {
        return 0;
    }
    date.year = year;
    date.weekday = 0;
    if (text.count != 0 || !nevod_date_seconds(&date, seconds))
        return 0;
    *seconds -= sign * (hours * 3600 + minutes * 60);
    return 1;
}

NEVOD_HELPER const char *nevod_weekday_name(int32_t weekday)
{
    static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    return names[weekday];
}

NEVOD_HELPER const char *nevod_month_name(int32_t month)
{
    static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return names[month - 1];
}

/* "Sun, 06 Nov 1994 08:49:37 GMT": IMF-fixdate (RFC 9110 §5.6.7), as in Date. */
NEVOD_HELPER void nevod_append_imf_date(nevod_buffer *buffer, int64_t seconds)
{
    const nevod_date date = nevod_date_of(seconds);
    nevod_append_text(buffer, nevod_weekday_name(date.weekday));
    nevod_append_text(buffer, ", ");
    nevod_append_padded(buffer, date.day, 2);
    nevod_append_text(buffer, " ");
    nevod_append_text(buffer, nevod_month_name(date.month));
    nevod_append_text(buffer, " ");
    nevod_append_padded(buffer, date.year, 4);
    nevod_append_text(buffer, " ");
    nevod_append_padded(buffer, date.hour, 2);
    nevod_append_text(buffer, ":");
    nevod_append_padded(buffer, date.minute, 2);
    nevod_append_text(buffer, ":");
    nevod_append_padded(buffer, date.second, 2);
    nevod_append_text(buffer, " GMT");
}

/* An exact IMF-fixdate with the right weekday. */
NEVOD_HELPER int nevod_read_imf_date(nevod_bytes text, int64_t *seconds)
{
    nevod_date date;
    int32_t year, weekday = 0;
    while (weekday < 7 && !nevod_starts_with(text, nevod_text(nevod_weekday_name(weekday))))
        weekday++;
    if (weekday == 7 || text.count != 29 || text.data[3] != ',' || text.data[4] != ' ')
        return 0;
    text = nevod_span(text.data + 5, 24);
    if (!nevod_read_digits(&text, 2, ' ', &date.day))
        return 0;
    for (date.month = 1; date.month <= 12 && !nevod_starts_with(text, nevod_text(nevod_month_name(date.month)));)
        date.month++;
    if (date.month > 12 || text.data[3] != ' ')
        return 0;
    text = nevod_span(text.data + 4, (size_t)text.count - 4);
    if (!nevod_read_digits(&text, 4, ' ', &year) || !nevod_read_digits(&text, 2, ':', &date.hour)
        || !nevod_read_digits(&text, 2, ':', &date.minute) || !nevod_read_digits(&text, 2, ' ', &date.second))
        return 0;
    date.year = year;
    date.weekday = weekday;
    return nevod_equal(text, NEVOD_TEXT("GMT")) && nevod_date_seconds(&date, seconds)
        && nevod_date_of(*seconds).weekday == weekday;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Errors and declarations.                                                                                          */

/* Reports why a call fails and returns `status`: `return nevod_fail(errors, NEVOD_BAD_SETTINGS, "key", "must not be empty");`
 * Subject and message have terminators, and contain no secret. */
NEVOD_HELPER int32_t nevod_fail(const nevod_errors *errors, int32_t status, const char *subject, const char *message)
{
    errors->report(errors->host, nevod_text(subject), nevod_text(message), NEVOD_NOTHING);
    return status;
}

/* Initialisers of static tables, in C and in C++:
 *     static const nevod_setting key = NEVOD_SETTING(NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED, "key", "", "The key's id"); */
#define NEVOD_SETTING(kind, flags, name, default_value, help) \
    { sizeof(nevod_setting), (kind), (flags), 0, NULL, NEVOD_BYTES(name), NEVOD_BYTES(default_value), NEVOD_BYTES(help) }
#define NEVOD_QUESTION(kind, name, prompt) \
    { sizeof(nevod_question), (kind), NEVOD_BYTES(name), NEVOD_BYTES(prompt), NULL, 0, 0 }

/* ---------------------------------------------------------------------------------------------------------------- */
/* A flow, from top to bottom.
 *
 *   static int32_t login(session *self, my_flow *flow, const nevod_step *step)
 *   {
 *       NEVOD_FLOW(&flow->line);
 *       NEVOD_AWAIT(NEVOD_EVENT_ANSWERS, nevod_ask(step, questions, 2));
 *       NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, nevod_post_form(step, self->server, "/login",
 *                                                         step->event->answers, step->event->answer_count));
 *       return nevod_issue(step, step->event->response->body, 0, NEVOD_NOTHING);
 *       NEVOD_FLOW_END
 *   }
 *
 * Each NEVOD_AWAIT ends this call of `flow_step`. The next call continues after it, with the event in `step`. So a variable keeps
 * its value only in the flow's own struct, and variables are declared above NEVOD_FLOW. Write only one NEVOD_AWAIT on a line, and
 * none within a `switch`. An event of another kind, such as a transport error or a cancellation, ends the flow with UNAVAILABLE. */

typedef struct nevod_step {
    const nevod_event *event;
    const nevod_actions *actions;
    const nevod_errors *errors;
} nevod_step;

NEVOD_HELPER nevod_step nevod_make_step(const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors)
{
    nevod_step step;
    step.event = event;
    step.actions = actions;
    step.errors = errors;
    return step;
}

/* Whether a step's event is of this kind and has a known response or none. */
NEVOD_HELPER int nevod_is_awaited(const nevod_step *step, int32_t kind)
{
    return step->event->kind == kind && (step->event->response == NULL || nevod_is_known_response(step->event->response));
}

/* The status of a step whose event is not the awaited one. */
NEVOD_HELPER int32_t nevod_unexpected(const nevod_step *step)
{
    if (step->event->kind == NEVOD_EVENT_TRANSPORT_ERROR)
        step->errors->report(step->errors->host, NEVOD_NOTHING, step->event->message, NEVOD_NOTHING);
    else if (step->event->kind != NEVOD_EVENT_CANCELLED)
        return nevod_fail(step->errors, NEVOD_UNSUPPORTED, "", "an event arrived that this flow did not ask for");
    return NEVOD_UNAVAILABLE;
}

/* `line` is a pointer to an int32_t in the flow's struct, which is 0 in `flow_begin`. A `const nevod_step *step` is in scope. */
#define NEVOD_FLOW(line) \
    int32_t *const nevod_line = (line); \
    switch (*nevod_line) { \
    case 0: \
        if (!nevod_is_awaited(step, NEVOD_EVENT_START)) \
            return nevod_unexpected(step);

#define NEVOD_AWAIT(kind_of_event, action) \
    do { \
        *nevod_line = __LINE__; \
        return (action); \
    case __LINE__: \
        if (!nevod_is_awaited(step, kind_of_event)) \
            return nevod_unexpected(step); \
    } while (0)

#define NEVOD_FLOW_END \
    default: \
        return nevod_unexpected(step); \
    }

/* Actions. Each ends a step; return its result as the step's. */

/* At most NEVOD_LIMIT_QUESTIONS. */
NEVOD_HELPER int32_t nevod_ask(const nevod_step *step, const nevod_question *questions, uint32_t count)
{
    const nevod_question *pointers[NEVOD_LIMIT_QUESTIONS];
    if (count > NEVOD_LIMIT_QUESTIONS)
        return nevod_fail(step->errors, NEVOD_INTERNAL, "", "the flow asks too many questions");
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = &questions[i];
    return step->actions->ask(step->actions->host, pointers, count);
}

/* `server` and `path` together are the URL. Redirects are followed. */
NEVOD_HELPER int32_t nevod_send(const nevod_step *step, const char *method, nevod_bytes server, const char *path,
                                const nevod_pair *headers, uint32_t header_count, nevod_bytes body)
{
    nevod_buffer url = nevod_copy(server);
    nevod_flow_request request;
    int32_t status;
    nevod_append_text(&url, path);
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.header_count = header_count;
    request.method = nevod_text(method);
    request.url = nevod_written(&url);
    request.headers = headers;
    request.body = body;
    request.follow_redirects = 1;
    status = url.failed ? nevod_fail(step->errors, NEVOD_INTERNAL, "", "out of memory")
                        : step->actions->send(step->actions->host, &request);
    nevod_buffer_free(&url);
    return status;
}

NEVOD_HELPER int32_t nevod_get(const nevod_step *step, nevod_bytes server, const char *path, const nevod_pair *headers,
                               uint32_t header_count)
{
    return nevod_send(step, "GET", server, path, headers, header_count, NEVOD_NOTHING);
}

/* Posts the fields as application/x-www-form-urlencoded. */
NEVOD_HELPER int32_t nevod_post_form(const nevod_step *step, nevod_bytes server, const char *path, const nevod_pair *fields,
                                     uint32_t field_count)
{
    static const nevod_pair type = {NEVOD_BYTES("Content-Type"), NEVOD_BYTES("application/x-www-form-urlencoded")};
    nevod_buffer form = nevod_buffer_empty();
    int32_t status;
    for (uint32_t i = 0; i < field_count; i++)
        nevod_append_form(&form, fields[i].name, fields[i].value);
    status = form.failed ? nevod_fail(step->errors, NEVOD_INTERNAL, "", "out of memory")
                         : nevod_send(step, "POST", server, path, &type, 1, nevod_written(&form));
    nevod_buffer_free(&form);
    return status;
}

NEVOD_HELPER nevod_token nevod_make_token(nevod_bytes bytes, int64_t expires_at_unix_ns, nevod_bytes account)
{
    nevod_token token;
    memset(&token, 0, sizeof token);
    token.struct_size = sizeof token;
    token.bytes = bytes;
    token.expires_at_unix_ns = expires_at_unix_ns;
    token.account = account;
    return token;
}

/* Stores a token now; the flow continues with NEVOD_EVENT_KEPT. */
NEVOD_HELPER int32_t nevod_keep(const nevod_step *step, nevod_bytes bytes, int64_t expires_at_unix_ns, nevod_bytes account)
{
    const nevod_token token = nevod_make_token(bytes, expires_at_unix_ns, account);
    return step->actions->keep(step->actions->host, &token);
}

/* Finishes the flow with a token, or a logout with no bytes. Expiry 0 and an empty account mean unknown. */
NEVOD_HELPER int32_t nevod_issue(const nevod_step *step, nevod_bytes bytes, int64_t expires_at_unix_ns, nevod_bytes account)
{
    const nevod_token token = nevod_make_token(bytes, expires_at_unix_ns, account);
    return step->actions->token(step->actions->host, &token);
}

NEVOD_HELPER int32_t nevod_show(const nevod_step *step, nevod_bytes text, nevod_bytes url)
{
    return step->actions->show(step->actions->host, text, url);
}

NEVOD_HELPER int32_t nevod_wait(const nevod_step *step, uint64_t seconds)
{
    return step->actions->wait(step->actions->host, seconds > UINT64_MAX / 1000000000u ? UINT64_MAX : seconds * 1000000000u);
}

#endif /* NEVOD_HELPERS_H */
