/* Writes everything that it sees to headers, and logs its creation and destruction. */
#include "nevod_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) { (const uint8_t *)(literal), sizeof(literal) - 1 }

static const nevod_bytes digest_names[] = { TEXT("sha-512"), TEXT("sha-256"), TEXT("sha-384") };
static const nevod_needs needs_table = {
    .struct_size = sizeof(nevod_needs),
    .flags = NEVOD_NEED_HEADERS | NEVOD_NEED_BODY | NEVOD_NEED_RANDOM | NEVOD_NEED_USE_COUNT,
    .digests = digest_names,
    .digest_count = 3,
};

static nevod_bytes text(const char *string) { return (nevod_bytes){ (const uint8_t *)string, strlen(string) }; }

static void note(const nevod_host *host, const char *line) { host->log(host->host, NEVOD_LOG_INFO, text(line)); }

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)values, (void)errors;
    note(host, count == 0 ? "create" : "create with settings");
    *instance = (void *)host;
    return NEVOD_OK;
}

static void destroy(void *instance) { note(instance, "destroy"); }

static const nevod_needs *needs(void *instance) { (void)instance; return &needs_table; }

static void write_bytes(const nevod_edits *edits, const char *name, nevod_bytes bytes) {
    char *hex = malloc(bytes.count * 2 + 1);
    for (uint64_t i = 0; i < bytes.count; i++) sprintf(hex + i * 2, "%02x", bytes.data[i]);
    edits->add_header(edits->host, text(name), (nevod_bytes){ (const uint8_t *)hex, bytes.count * 2 });
    free(hex);
}

static void write_number(const nevod_edits *edits, const char *name, long long value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", value);
    edits->add_header(edits->host, text(name), text(digits));
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)instance, (void)errors;
    write_number(edits, "V-Size", view->struct_size);
    write_number(edits, "V-Token", token != NULL);
    write_number(edits, "V-Target-Kind", view->target_kind);
    edits->add_header(edits->host, text("V-Method"), view->method);
    edits->add_header(edits->host, text("V-Scheme"), view->scheme);
    edits->add_header(edits->host, text("V-Authority"), view->authority);
    edits->add_header(edits->host, text("V-Target"), view->target);
    for (uint32_t i = 0; i < view->header_count; i++) {
        write_bytes(edits, "V-Name", view->headers[i].name);
        write_bytes(edits, "V-Value", view->headers[i].value);
    }
    write_number(edits, "V-Body-Kind", view->body_kind);
    write_number(edits, "V-Body-Length", (long long)view->body_length);
    write_bytes(edits, "V-Body", view->body);
    for (uint32_t i = 0; i < view->digest_count; i++) {
        edits->add_header(edits->host, text("V-Digest-Name"), view->digests[i].name);
        write_bytes(edits, "V-Digest", view->digests[i].value);
    }
    write_number(edits, "V-Attempt", view->attempt);
    write_number(edits, "V-Time", view->unix_time_ns);
    write_bytes(edits, "V-Random", view->random);
    write_number(edits, "V-Use-Count", (long long)view->use_count);
    write_number(edits, "V-State", (long long)view->state.count);
    return NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = TEXT("view"),
    .title = TEXT("Shows what it sees"),
    .create = create,
    .destroy = destroy,
    .needs = needs,
    .authorize = authorize,
};
static const nevod_scheme *const schemes[] = { &scheme };
static const nevod_plugin plugin = {
    .struct_size = sizeof(nevod_plugin),
    .abi_major = NEVOD_ABI_MAJOR,
    .abi_draft = NEVOD_ABI_DRAFT,
    .scheme_count = 1,
    .schemes = schemes,
    .name = TEXT("View"),
    .version = TEXT("1.2.3"),
};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
