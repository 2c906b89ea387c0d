/* Calls the scheme as a host does, with a clock of its own. */
#include "nevod_plugin.h"

#include <stdio.h>
#include <string.h>

static char edited[512], reported[512];

static int32_t set_header(void *host, nevod_bytes name, nevod_bytes value)
{
    (void)host;
    size_t used = strlen(edited);
    snprintf(edited + used, sizeof edited - used, "%.*s: %.*s\n", (int)name.count, (const char *)name.data, (int)value.count,
             (const char *)value.data);
    return NEVOD_OK;
}

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{
    (void)host, (void)detail;
    snprintf(reported, sizeof reported, "%.*s %.*s", (int)subject.count, (const char *)subject.data, (int)message.count,
             (const char *)message.data);
}

static int failures;

static void expect(const char *what, const char *found, const char *expected)
{
    if (strcmp(found, expected) != 0) {
        failures++;
        fprintf(stderr, "%s: expected\n%s\nfound\n%s\n", what, expected, found);
    }
}

int main(void)
{
    const nevod_scheme *scheme = nevod_plugin_v1()->schemes[0];
    const nevod_host host = {.struct_size = sizeof host};
    const nevod_errors errors = {.struct_size = sizeof errors, .report = report};
    const nevod_edits edits = {.struct_size = sizeof edits, .set_header = set_header};
    const nevod_view view = {
        .struct_size = sizeof view, .method = NEVOD_BYTES("GET"), .scheme = NEVOD_BYTES("https"),
        .authority = NEVOD_BYTES("api.example.com"), .target = NEVOD_BYTES("/orders"), .attempt = 1,
        .unix_time_ns = 1767225600000000000,
    };
    nevod_pair values[] = {{NEVOD_BYTES("key"), NEVOD_BYTES("me")}, {NEVOD_BYTES("secret"), NEVOD_BYTES("s3cret")}};
    void *instance = NULL;

    if (scheme->create(scheme, &host, values, 2, &instance, &errors) != NEVOD_OK) {
        fprintf(stderr, "create: %s\n", reported);
        return 1;
    }
    if (scheme->authorize(instance, NULL, &view, &edits, &errors) != NEVOD_OK)
        expect("authorize", reported, "");
    expect("the request", edited, "X-Key: me\nX-Secret: s3cret\nX-Time: 1767225600\n");
    scheme->destroy(instance);

    values[1].value.count = 0;
    if (scheme->create(scheme, &host, values, 2, &instance, &errors) != NEVOD_BAD_SETTINGS)
        expect("an empty secret", "accepted", "refused");
    expect("an empty secret", reported, "secret must not be empty");

    puts(failures == 0 ? "passed" : "failed");
    return failures != 0;
}
