/* Rules of nevod_helpers.h that hold for every input. scripts/fuzz builds this for libFuzzer; test_languages.py builds it with
 * -DMUTATIONS as a program that runs files and mutates them: helpers-mutations SEED COUNT FILE... */
#include "nevod_helpers.h"

#include <stdio.h>

#define RULE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "broken rule, line %d: %s\n", __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* Every value within a valid document is valid by itself, and lies within the document. */
static void walk(nevod_bytes value, nevod_bytes within, int depth)
{
    nevod_bytes again, rest = value, name, item;
    nevod_buffer text = nevod_buffer_empty();
    uint64_t index = 0;
    RULE(value.data >= within.data && value.count <= within.count);
    RULE(value.data + value.count <= within.data + within.count);
    RULE(nevod_json_read(value, &again) && nevod_equal(again, value) && depth <= NEVOD_JSON_DEPTH);
    if (nevod_json_string(value, &text)) {
        nevod_buffer written = nevod_buffer_empty(), reread = nevod_buffer_empty();
        RULE(value.data[0] == '"' && nevod_utf8_valid(nevod_written(&text)) && nevod_json_is(value, nevod_written(&text)));
        nevod_append_json(&written, nevod_written(&text));
        RULE(nevod_json_string(nevod_written(&written), &reread) && nevod_equal(nevod_written(&reread), nevod_written(&text)));
        nevod_buffer_free(&written);
        nevod_buffer_free(&reread);
    }
    nevod_buffer_free(&text);
    while (nevod_json_next(&rest, &name, &item)) {
        RULE((name.count > 0) == (value.data[0] == '{'));
        if (name.count > 0) {
            RULE(nevod_json_string(name, &text) && nevod_json_member(value, nevod_written(&text)).count > 0);
            nevod_buffer_free(&text);
        } else if (index < 8) {
            RULE(nevod_json_element(value, index).data == item.data);
        }
        index++;
        walk(item, value, depth + 1);
    }
    RULE(rest.count <= 1 || value.data[0] == '"' || (value.data[0] != '{' && value.data[0] != '[') || index == 0);
}

static void check_forms(nevod_bytes input)
{
    nevod_buffer form = nevod_buffer_empty();
    nevod_bytes rest = input, again;
    int state, count = 0;
    do {
        nevod_buffer name = nevod_buffer_empty(), value = nevod_buffer_empty();
        state = nevod_form_next(&rest, &name, &value);
        if (state == 1) {
            nevod_append_form(&form, nevod_written(&name), nevod_written(&value));
            count++;
        }
        nevod_buffer_free(&name);
        nevod_buffer_free(&value);
    } while (state == 1);
    /* Written and read again, it has as many fields. */
    again = nevod_written(&form);
    for (; count > 0; count--) {
        nevod_buffer name = nevod_buffer_empty(), value = nevod_buffer_empty();
        RULE(nevod_form_next(&again, &name, &value) == 1);
        nevod_buffer_free(&name);
        nevod_buffer_free(&value);
    }
    RULE(again.count == 0);
    nevod_buffer_free(&form);
}

/* Bytes stay the same when they are read and written again. */
static void check_codecs(nevod_bytes input)
{
    for (int alphabet = NEVOD_BASE64; alphabet <= NEVOD_BASE64_URL; alphabet++) {
        nevod_buffer text = nevod_buffer_empty(), bytes = nevod_buffer_empty();
        if (nevod_read_base64(input, alphabet, &bytes)) {
            nevod_append_base64(&text, nevod_written(&bytes), alphabet);
            RULE(nevod_equal(nevod_written(&text), input));
        }
        nevod_buffer_free(&text);
        nevod_buffer_free(&bytes);
        nevod_append_base64(&text, input, alphabet);
        RULE(nevod_read_base64(nevod_written(&text), alphabet, &bytes) && nevod_equal(nevod_written(&bytes), input));
        nevod_buffer_free(&text);
        nevod_buffer_free(&bytes);
    }
    nevod_buffer text = nevod_buffer_empty(), bytes = nevod_buffer_empty();
    nevod_append_percent(&text, input);
    RULE(nevod_read_percent(nevod_written(&text), '+', &bytes) && nevod_equal(nevod_written(&bytes), input));
    nevod_buffer_free(&bytes);
    nevod_read_percent(input, ' ', &bytes);
    nevod_buffer_free(&bytes);
    nevod_read_hex(input, &bytes);
    nevod_buffer_free(&text);
    nevod_buffer_free(&bytes);
}

static void check_dates(nevod_bytes input)
{
    int64_t seconds, again;
    for (int is_imf = 0; is_imf < 2; is_imf++) {
        nevod_buffer text = nevod_buffer_empty();
        if (is_imf ? nevod_read_imf_date(input, &seconds) : nevod_read_iso8601(input, &seconds)) {
            is_imf ? nevod_append_imf_date(&text, seconds) : nevod_append_iso8601(&text, seconds, 0);
            RULE(is_imf ? nevod_equal(nevod_written(&text), input)
                        : nevod_read_iso8601(nevod_written(&text), &again) && (again == seconds || seconds < -62167219200 || seconds > 253402300799));
        }
        nevod_buffer_free(&text);
    }
    nevod_read_decimal(input, &seconds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    const nevod_bytes input = nevod_span(data, count);
    nevod_bytes value;
    if (nevod_json_read(input, &value))
        walk(value, input, 0);
    check_forms(input);
    check_codecs(input);
    check_dates(input);
    return 0;
}

#ifdef MUTATIONS
static uint64_t state;

/* xorshift64*: the same numbers for a seed on every machine. */
static uint64_t draw(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 2685821657736338717u >> 16) % below;
}

/* In memory of exactly its size, so that the sanitizer catches an overread. */
static void run_exactly(nevod_bytes input)
{
    uint8_t *exact = (uint8_t *)malloc(input.count + (input.count == 0));
    if (exact == NULL)
        exit(1);
    if (input.count > 0)
        memcpy(exact, input.data, input.count);
    LLVMFuzzerTestOneInput(exact, input.count);
    free(exact);
}

static nevod_buffer contents(const char *path)
{
    nevod_buffer bytes = nevod_buffer_empty();
    FILE *file = fopen(path, "rb");
    int byte;
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((byte = getc(file)) != EOF)
        nevod_append_byte(&bytes, (uint8_t)byte);
    fclose(file);
    return bytes;
}

int main(int count, char **arguments)
{
    enum { first = 3, most = 100 };
    static const char letters[] = "{}[]\",:\\u0dDeE+-.%&=TZ 19trufalsn\n";
    nevod_buffer seeds[most];
    uint64_t files = 0;
    if (count <= first || count > first + most)
        return 2;
    for (; files < (uint64_t)(count - first); files++) {
        seeds[files] = contents(arguments[first + files]);
        run_exactly(nevod_written(&seeds[files]));
    }
    long inputs = atol(arguments[2]);
    state = strtoull(arguments[1], NULL, 10) * 2 + 1;
    for (long i = 0; i < inputs; i++) {
        nevod_buffer input = nevod_copy(nevod_written(&seeds[draw(files)]));
        for (uint64_t times = draw(8); times > 0; times--) {
            uint64_t place = draw(input.count + 1);
            uint8_t byte = draw(4) == 0 ? (uint8_t)draw(256) : (uint8_t)letters[draw(sizeof letters - 1)];
            if (place == input.count || draw(3) == 0) {
                nevod_buffer longer = nevod_copy(nevod_span(input.data, place));
                nevod_append_byte(&longer, byte);
                nevod_append(&longer, nevod_span(input.data + place, input.count - place));
                nevod_buffer_free(&input);
                input = longer;
            } else if (draw(2) == 0) {
                input.data[place] = byte;
            } else {
                input.count = place;
            }
        }
        run_exactly(nevod_written(&input));
        nevod_buffer_free(&input);
    }
    while (files > 0)
        nevod_buffer_free(&seeds[--files]);
    printf("%ld inputs\n", inputs);
    return 0;
}
#endif
