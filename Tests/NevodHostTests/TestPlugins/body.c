// Replaces or wraps the body, as the setting "mode" says. "base64" and "size" replace it. The others wrap it in chunks, each with
// its size and a checksum that continues the previous one, like aws-chunked's signatures. Logs each freed wrapping.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

#define CHUNK 65536

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

typedef struct {
    const nevod_host *host;
    char mode[32];
    uint64_t size;
} instance;

typedef struct {
    uint8_t buffer[CHUNK];
    size_t used;
    uint32_t checksum;
    int calls;
} wrapping;

static const nevod_setting MODE = {.struct_size = sizeof MODE, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("mode")};
static const nevod_setting SIZE = {.struct_size = sizeof SIZE, .kind = NEVOD_SETTING_INTEGER, .name = NEVOD_BYTES("size")};
static const nevod_setting *const SETTINGS[] = {&MODE, &SIZE};

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    in->host = host;
    for (uint32_t i = 0; i < count; i++) {
        char value[32] = {0};
        memcpy(value, values[i].value.data, values[i].value.count < 31 ? values[i].value.count : 31);
        if (values[i].name.data[0] == 'm') memcpy(in->mode, value, sizeof value);
        else in->size = strtoull(value, NULL, 10);
    }
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *made) {
    instance *in = made;
    in->host->log(in->host->host, NEVOD_LOG_INFO, text("destroyed"));
    free(in);
}

static const nevod_needs *needs(void *in) {
    static const nevod_needs NEEDS = {.struct_size = sizeof NEEDS, .flags = NEVOD_NEED_BODY | NEVOD_NEED_REPLACE_BODY};
    static const nevod_needs NONE = {.struct_size = sizeof NONE};
    return strncmp(((instance *)in)->mode, "unneeded", 8) ? &NEEDS : &NONE;
}

static uint32_t adler(uint32_t sum, const uint8_t *data, size_t count) {
    uint32_t a = sum & 0xffff, b = sum >> 16;
    for (size_t i = 0; i < count; i++) a = (a + data[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

static uint64_t chunk_length(uint64_t count) {
    char head[64];
    return (uint64_t)snprintf(head, sizeof head, "%" PRIx64 ";chunk-checksum=00000000\r\n", count) + count + 2;
}

static uint64_t wrapped_length(uint64_t count) {
    return count / CHUNK * chunk_length(CHUNK) + (count % CHUNK ? chunk_length(count % CHUNK) : 0) + chunk_length(0);
}

static int32_t replace(const nevod_view *view, const nevod_edits *edits) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t count = view->body.count, used = 0;
    char *encoded = malloc(count * 2 + 8);
    if (!encoded) return NEVOD_INTERNAL;
    for (uint64_t i = 0; i < count; i += 3) {
        uint32_t group = (uint32_t)view->body.data[i] << 16;
        if (i + 1 < count) group |= (uint32_t)view->body.data[i + 1] << 8;
        if (i + 2 < count) group |= view->body.data[i + 2];
        for (int j = 0; j < 4; j++) encoded[used++] = i + j > count ? '=' : DIGITS[group >> (18 - 6 * j) & 63];
    }
    int32_t status = edits->replace_body(edits->host, (nevod_bytes){(uint8_t *)encoded, used});
    free(encoded);
    return status;
}

static int32_t authorize(void *made, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    instance *in = made;
    const char *mode = in->mode;
    if (!strcmp(mode, "base64") || !strcmp(mode, "unneeded")) return replace(view, edits), NEVOD_OK;
    if (!strcmp(mode, "size")) {
        uint8_t *bytes = calloc(1, in->size);
        edits->replace_body(edits->host, (nevod_bytes){bytes, in->size});
        free(bytes);
        return NEVOD_OK;
    }
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, view->body_length);
    edits->set_header(edits->host, text("X-Decoded-Length"), text(number));
    edits->set_header(edits->host, text("Content-Encoding"), text("aws-chunked"));
    for (int i = strcmp(mode, "twice") ? 1 : 0; i < 2; i++) {
        // Without body_free, nothing would free it.
        wrapping *w = strcmp(mode, "without") ? calloc(1, sizeof *w) : NULL;
        if (w) w->checksum = 1;
        edits->wrap_body(edits->host, !strcmp(mode, "huge") ? UINT64_MAX : wrapped_length(view->body_length), w);
    }
    if (!strcmp(mode, "gives-up")) {
        errors->report(errors->host, NOTHING, text("gave up after wrap_body"), NOTHING);
        return NEVOD_UNAVAILABLE;
    }
    return NEVOD_OK;
}

static int32_t write_chunk(wrapping *w, const nevod_output *output) {
    char head[64];
    w->checksum = adler(w->checksum, w->buffer, w->used);
    snprintf(head, sizeof head, "%zx;chunk-checksum=%08" PRIx32 "\r\n", w->used, w->checksum);
    output->write(output->host, text(head));
    output->write(output->host, (nevod_bytes){w->buffer, w->used});
    w->used = 0;
    return output->write(output->host, text("\r\n"));
}

static int32_t body_piece(void *made, void *wrapped, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                          const nevod_errors *errors) {
    instance *in = made;
    wrapping *w = wrapped;
    if (!strcmp(in->mode, "fails") && ++w->calls > 1) {
        errors->report(errors->host, NOTHING, text("the card was pulled out"), NOTHING);
        return NEVOD_UNAVAILABLE;
    }
    while (piece.count) {
        size_t room = CHUNK - w->used, count = piece.count < room ? (size_t)piece.count : room;
        memcpy(w->buffer + w->used, piece.data, count);
        w->used += count, piece.data += count, piece.count -= count;
        if (w->used == CHUNK) write_chunk(w, output);
    }
    if (!is_last) return NEVOD_OK;
    if (w->used) write_chunk(w, output);
    if (strcmp(in->mode, "short")) write_chunk(w, output);
    if (!strcmp(in->mode, "long")) output->write(output->host, text("!"));
    return NEVOD_OK;
}

static void body_free(void *made, void *wrapped) {
    instance *in = made;
    in->host->log(in->host->host, NEVOD_LOG_INFO, text("freed"));
    free(wrapped);
}

#define COMMON                                                                                                             \
    .struct_size = sizeof(nevod_scheme), .title = NEVOD_BYTES("Bodies"), .settings = SETTINGS, .setting_count = 2, .create = create, \
    .destroy = destroy, .needs = needs, .authorize = authorize
static const nevod_scheme SCHEME = {COMMON, .id = NEVOD_BYTES("body"), .body_piece = body_piece, .body_free = body_free};
static const nevod_scheme WITHOUT = {COMMON, .id = NEVOD_BYTES("without-functions")};
static const nevod_scheme *const SCHEMES[] = {&SCHEME, &WITHOUT};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 2, .schemes = SCHEMES,
    .name = NEVOD_BYTES("body"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
