// Calls the scheme as a host does, with a clock of its own.
#include "nevod_plugin.h"

#include <iostream>
#include <string>

static std::string edited, reported;
static int failures;

static std::string text(nevod_bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.count}; }

static int32_t set_header(void *, nevod_bytes name, nevod_bytes value)
{
    edited += text(name) + ": " + text(value) + "\n";
    return NEVOD_OK;
}

static void report(void *, nevod_bytes subject, nevod_bytes message, nevod_bytes)
{
    reported = text(subject) + " " + text(message);
}

static void expect(const char *what, const std::string &found, const std::string &expected)
{
    if (found == expected) return;
    ++failures;
    std::cerr << what << ": expected\n" << expected << "\nfound\n" << found << "\n";
}

int main()
{
    const nevod_scheme *scheme = nevod_plugin_v1()->schemes[0];
    const nevod_host host = {.struct_size = sizeof host};
    const nevod_errors errors = {.struct_size = sizeof errors, .report = report};
    const nevod_edits edits = {.struct_size = sizeof edits, .set_header = set_header};
    const nevod_view view = {
        .struct_size = sizeof view, .method = NEVOD_BYTES("GET"), .scheme = NEVOD_BYTES("https"),
        .authority = NEVOD_BYTES("api.example.com"), .target = NEVOD_BYTES("/orders"), .attempt = 1,
        .unix_time_ns = 1767225600000000000};
    nevod_pair values[] = {{NEVOD_BYTES("key"), NEVOD_BYTES("me")}, {NEVOD_BYTES("secret"), NEVOD_BYTES("s3cret")}};
    void *instance = nullptr;

    if (scheme->create(scheme, &host, values, 2, &instance, &errors) != NEVOD_OK) {
        std::cerr << "create: " << reported << "\n";
        return 1;
    }
    if (scheme->authorize(instance, nullptr, &view, &edits, &errors) != NEVOD_OK) expect("authorize", reported, "");
    expect("the request", edited, "X-Key: me\nX-Secret: s3cret\nX-Time: 1767225600\n");
    scheme->destroy(instance);

    values[1].value.count = 0;
    if (scheme->create(scheme, &host, values, 2, &instance, &errors) != NEVOD_BAD_SETTINGS)
        expect("an empty secret", "accepted", "refused");
    expect("an empty secret", reported, "secret must not be empty");

    std::cout << (failures == 0 ? "passed" : "failed") << "\n";
    return failures != 0;
}
