/* Calls nevod_helpers.h for test_languages.py. Each line of standard input is a name and arguments in hex, or "-" for no argument.
 * Each line of output is a result in hex, or "!" for invalid input. Compiled as C and as C++. */
#include "nevod_helpers.h"

#include <stdio.h>

static void dump(nevod_bytes value, nevod_buffer *to)
{
    nevod_bytes rest = value, name, item;
    int first = 1;
    if (value.count > 0 && (value.data[0] == '{' || value.data[0] == '[')) {
        nevod_append(to, nevod_span(value.data, 1));
        while (nevod_json_next(&rest, &name, &item)) {
            nevod_append_text(to, first ? "" : ",");
            first = 0;
            if (name.count > 0) {
                nevod_buffer text = nevod_buffer_empty();
                nevod_json_string(name, &text);
                nevod_append_json(to, nevod_written(&text));
                nevod_append_text(to, ":");
                nevod_buffer_free(&text);
            }
            dump(item, to); /* as deep as NEVOD_JSON_DEPTH */
        }
        nevod_append_text(to, value.data[0] == '{' ? "}" : "]");
    } else if (value.count > 0 && value.data[0] == '"') {
        nevod_buffer text = nevod_buffer_empty();
        nevod_json_string(value, &text);
        nevod_append_json(to, nevod_written(&text));
        nevod_buffer_free(&text);
    } else {
        nevod_append(to, value);
    }
}

static int form(nevod_bytes text, nevod_buffer *out)
{
    for (;;) {
        nevod_buffer name = nevod_buffer_empty(), value = nevod_buffer_empty();
        int state = nevod_form_next(&text, &name, &value);
        if (state == 1) {
            nevod_append_json(out, nevod_written(&name));
            nevod_append_text(out, "=");
            nevod_append_hex(out, nevod_written(&value));
            nevod_append_text(out, "\n");
        }
        nevod_buffer_free(&name);
        nevod_buffer_free(&value);
        if (state <= 0)
            return state == 0;
    }
}

static int run(const char *name, const nevod_bytes *in, nevod_buffer *out)
{
#define IS(text) (strcmp(name, text) == 0)
    int64_t number = 0;
    nevod_bytes value = NEVOD_NOTHING;
    if (IS("base64") || IS("base64url"))
        return nevod_append_base64(out, in[0], IS("base64url") ? NEVOD_BASE64_URL : NEVOD_BASE64), 1;
    if (IS("unbase64") || IS("unbase64url"))
        return nevod_read_base64(in[0], IS("unbase64url") ? NEVOD_BASE64_URL : NEVOD_BASE64, out);
    if (IS("hex"))
        return nevod_append_hex(out, in[0]), 1;
    if (IS("unhex"))
        return nevod_read_hex(in[0], out);
    if (IS("percent"))
        return nevod_append_percent(out, in[0]), 1;
    if (IS("unpercent"))
        return nevod_read_percent(in[0], '+', out);
    if (IS("form"))
        return nevod_append_form(out, in[0], in[1]), nevod_append_form(out, in[1], in[0]), 1;
    if (IS("unform"))
        return form(in[0], out);
    if (IS("formvalue"))
        return nevod_form_value(in[0], in[1], out);
    if (IS("json"))
        return nevod_json_read(in[0], &value) ? (dump(value, out), 1) : 0;
    if (IS("member"))
        return nevod_json_read(in[0], &value) ? (nevod_append(out, nevod_json_member(value, in[1])), 1) : 0;
    if (IS("element"))
        return nevod_json_read(in[0], &value) && nevod_read_decimal(in[1], &number)
            ? (nevod_append(out, nevod_json_element(value, (uint64_t)number)), 1) : 0;
    if (IS("string"))
        return nevod_append_json(out, in[0]), 1;
    if (IS("decimal"))
        return nevod_read_decimal(in[0], &number) ? (nevod_append_decimal(out, number), 1) : 0;
    if (IS("iso") || IS("isocompact"))
        return nevod_read_decimal(in[0], &number) ? (nevod_append_iso8601(out, number, IS("isocompact")), 1) : 0;
    if (IS("imf"))
        return nevod_read_decimal(in[0], &number) ? (nevod_append_imf_date(out, number), 1) : 0;
    if (IS("uniso"))
        return nevod_read_iso8601(in[0], &number) ? (nevod_append_decimal(out, number), 1) : 0;
    if (IS("unimf"))
        return nevod_read_imf_date(in[0], &number) ? (nevod_append_decimal(out, number), 1) : 0;
    if (IS("utf8"))
        return nevod_utf8_valid(in[0]);
    if (IS("trim"))
        return nevod_append(out, nevod_trim(in[0])), 1;
    if (IS("equal"))
        return nevod_append_decimal(out, nevod_equal(in[0], in[1])),
               nevod_append_decimal(out, nevod_equal_ignoring_case(in[0], in[1])),
               nevod_append_decimal(out, nevod_equal_secret(in[0], in[1])), 1;
    fprintf(stderr, "no function %s\n", name);
    exit(1);
}

int main(void)
{
    static char line[1 << 20]; /* the input in memory of exactly its size, so that a sanitizer catches an overread */
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *words[3] = {NULL, NULL, NULL};
        nevod_buffer arguments[2] = {nevod_buffer_empty(), nevod_buffer_empty()}, out = nevod_buffer_empty(), hex = nevod_buffer_empty();
        nevod_bytes in[2] = {NEVOD_NOTHING, NEVOD_NOTHING};
        uint8_t *exact[2] = {NULL, NULL};
        words[0] = strtok(line, " \n");
        for (int i = 1; i < 3; i++)
            words[i] = strtok(NULL, " \n");
        for (int i = 0; i < 2; i++)
            if (words[i + 1] != NULL && strcmp(words[i + 1], "-") != 0) {
                nevod_read_hex(nevod_text(words[i + 1]), &arguments[i]);
                exact[i] = (uint8_t *)malloc(arguments[i].count);
                if (exact[i] == NULL)
                    return 1;
                memcpy(exact[i], arguments[i].data, arguments[i].count);
                in[i] = nevod_span(exact[i], arguments[i].count);
            }
        if (run(words[0], in, &out)) {
            nevod_append_hex(&hex, nevod_written(&out));
            printf("%.*s\n", (int)hex.count, hex.count == 0 ? "" : (const char *)hex.data);
        } else {
            printf("!\n");
        }
        for (int i = 0; i < 2; i++) {
            nevod_buffer_free(&arguments[i]);
            free(exact[i]);
        }
        nevod_buffer_free(&out);
        nevod_buffer_free(&hex);
    }
    return 0;
}
