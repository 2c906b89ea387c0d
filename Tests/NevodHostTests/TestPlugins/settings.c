/* Declares a setting of every kind and writes the received values to the host's log. */
#include "nevod_plugin.h"
#include <string.h>

#define TEXT(literal) { (const uint8_t *)(literal), sizeof(literal) - 1 }
#define SETTING(id, ...) \
    static const nevod_setting id = { .struct_size = sizeof(nevod_setting), __VA_ARGS__ }

static const nevod_bytes colours[] = { TEXT("red"), TEXT("green") };

SETTING(text_setting, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REQUIRED, .name = TEXT("text"), .help = TEXT("Any text"));
SETTING(secret_setting, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_SECRET, .name = TEXT("secret"));
SETTING(secret_integer, .kind = NEVOD_SETTING_INTEGER, .flags = NEVOD_SETTING_SECRET, .name = TEXT("pin"));
SETTING(integer_setting, .kind = NEVOD_SETTING_INTEGER, .name = TEXT("integer"), .default_value = TEXT("-7"));
SETTING(boolean_setting, .kind = NEVOD_SETTING_BOOLEAN, .name = TEXT("boolean"), .default_value = TEXT("true"));
SETTING(choice_setting, .kind = NEVOD_SETTING_CHOICE, .name = TEXT("choice"), .choices = colours, .choice_count = 2);
SETTING(url_setting, .kind = NEVOD_SETTING_URL, .name = TEXT("url"));
SETTING(repeated_setting, .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REPEATABLE, .name = TEXT("repeated"));

SETTING(path_setting, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_RELATIVE | NEVOD_SETTING_REPEATABLE, .name = TEXT("path"));
SETTING(private_setting, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_RELATIVE | NEVOD_SETTING_SECRET, .name = TEXT("private"));

static const nevod_setting *const settings[] = {
    &text_setting, &secret_setting, &secret_integer, &integer_setting, &boolean_setting, &choice_setting, &url_setting, &repeated_setting,
    &path_setting, &private_setting,
};

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t line[512];
        uint64_t used = values[i].name.count;
        memcpy(line, values[i].name.data, used);
        line[used++] = '=';
        if (values[i].value.count > 0) memcpy(line + used, values[i].value.data, values[i].value.count);
        used += values[i].value.count;
        host->log(host->host, NEVOD_LOG_DEBUG, (nevod_bytes){ line, used });
        if (values[i].value.count == 6 && memcmp(values[i].value.data, "refuse", 6) == 0) {
            nevod_bytes message = TEXT("is not to the plugin's taste"), second = TEXT("a second report");
            nevod_bytes detail = TEXT("the-known-secret");
            errors->report(errors->host, values[i].name, message, detail);
            errors->report(errors->host, second, second, second);
            return NEVOD_BAD_SETTINGS;
        }
    }
    *instance = NULL;
    return NEVOD_OK;
}

static void destroy(void *instance) { (void)instance; }

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)instance, (void)token, (void)view, (void)edits, (void)errors;
    return 99;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .id = TEXT("settings"),
    .title = TEXT("Every kind of setting"),
    .settings = settings,
    .setting_count = sizeof(settings) / sizeof(settings[0]),
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
    .name = TEXT("Settings"),
    .version = TEXT("1"),
};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
