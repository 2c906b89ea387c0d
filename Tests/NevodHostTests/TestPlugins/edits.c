/* Makes the edits that its settings name: `edit` is "OPERATION NAME VALUE" with name and value in hex, and "*N" for a value
 * of N times the letter a. */
#define _DEFAULT_SOURCE
#include "nevod_plugin.h"
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) { (const uint8_t *)(literal), sizeof(literal) - 1 }

static const nevod_setting edit_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REPEATABLE, .name = TEXT("edit") };
static const nevod_setting status_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_BOOLEAN, .name = TEXT("returns-status"), .default_value = TEXT("false") };
static const nevod_setting *const settings[] = { &edit_setting, &status_setting };

typedef struct { int returns_status; int count; char *edits[16]; } instance_data;

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host, (void)errors;
    instance_data *data = calloc(1, sizeof *data);
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].name.count != 4) data->returns_status = values[i].value.count == 4;
        else data->edits[data->count++] = strndup((const char *)values[i].value.data, values[i].value.count);
    }
    *instance = data;
    return NEVOD_OK;
}

static void destroy(void *instance) {
    instance_data *data = instance;
    for (int i = 0; i < data->count; i++) free(data->edits[i]);
    free(data);
}

static nevod_bytes bytes(const char *text) {
    size_t count = text[0] == '*' ? (size_t)atol(text + 1) : strlen(text) / 2;
    uint8_t *data = malloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        char digits[3] = { 0 };
        if (text[0] != '*') memcpy(digits, text + 2 * i, 2);
        data[i] = text[0] == '*' ? 'a' : (uint8_t)strtol(digits, NULL, 16);
    }
    return (nevod_bytes){ data, count };
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token, (void)view, (void)errors;
    instance_data *data = instance;
    int32_t status = NEVOD_OK;
    for (int i = 0; i < data->count; i++) {
        char *copy = strdup(data->edits[i]), *rest = copy;
        const char *operation = strsep(&rest, " ");
        nevod_bytes name = bytes(strsep(&rest, " ")), value = bytes(rest);
        int32_t (*edit)(void *, nevod_bytes, nevod_bytes) =
            strcmp(operation, "set") == 0 ? edits->set_header
            : strcmp(operation, "add") == 0 ? edits->add_header
            : strcmp(operation, "query") == 0 ? edits->add_query : edits->add_cookie;
        int32_t result = edit(edits->host, name, value);
        if (result != NEVOD_OK) status = result;
        free((void *)name.data), free((void *)value.data), free(copy);
    }
    return data->returns_status ? status : NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = TEXT("edits"),
    .title = TEXT("Edits as told"),
    .settings = settings,
    .setting_count = 2,
    .create = create,
    .destroy = destroy,
    .authorize = authorize,
};
static const nevod_scheme *const schemes[] = { &scheme };
static const nevod_plugin plugin = {
    .struct_size = sizeof(nevod_plugin),
    .abi_major = NEVOD_ABI_MAJOR,
    .abi_draft = NEVOD_ABI_DRAFT,
    .scheme_count = 1,
    .schemes = schemes,
    .name = TEXT("Edits"),
    .version = TEXT("1"),
};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
