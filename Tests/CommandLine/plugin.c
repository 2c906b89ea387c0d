/*
 * A small valid plugin, in pieces. On the compiler's command line, a test replaces a piece to make one fault.
 */
#define _DEFAULT_SOURCE
#include "nevod_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))

/* For tests to use in the pieces. */
#define SET(name, value) edits->set_header(edits->host, TEXT(name), value)
#define ADD(name, value) edits->add_header(edits->host, TEXT(name), value)
#define QUERY(name, value) edits->add_query(edits->host, TEXT(name), value)
#define COOKIE(name, value) edits->add_cookie(edits->host, TEXT(name), value)
#define ADD_FLOWS .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free
#define ADD_DECODE .token_decode = token_decode, .token_free = token_free
#define TOKEN(...) actions->token(actions->host, &(nevod_token){.struct_size = sizeof(nevod_token), __VA_ARGS__})
#define REPORT(subject, message) errors->report(errors->host, TEXT(subject), TEXT(message), TEXT("the detail"))

#ifndef CREATE
#define CREATE
#endif
#ifndef AUTHORIZE
#define AUTHORIZE
#endif
#ifndef DECODE
#define DECODE
#endif
#ifndef RESPOND
#define RESPOND
#endif
#ifndef BEGIN
#define BEGIN
#endif
#ifndef STEP
#define STEP
#endif
#ifndef NEEDS
#define NEEDS .struct_size = sizeof(nevod_needs)
#endif
#ifndef NEEDS_ANSWER
#define NEEDS_ANSWER &needs_answer
#endif
#ifndef SETTING
#define SETTING
#endif
#ifndef SETTINGS
#define SETTINGS &setting
#endif
#ifndef PARAMETER
#define PARAMETER
#endif
#ifndef PARAMETERS
#define PARAMETERS
#endif
#ifndef SCHEME
#define SCHEME
#endif
#ifndef SCHEMES
#define SCHEMES &scheme
#endif
#ifndef PLUGIN
#define PLUGIN
#endif
#ifndef ANSWER
#define ANSWER &plugin
#endif
#ifndef ENTRY_POINT
#define ENTRY_POINT nevod_plugin_v1
#endif
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define PAGE (64 << 10) /* the largest page size of the supported processors */

static nevod_bytes letters(uint64_t count)
{
    uint8_t *data = malloc(count);
    memset(data, 'a', count);
    return (nevod_bytes){data, count};
}

/* One byte followed by inaccessible memory: a host that rejects such a length must not read it. */
static nevod_bytes one_byte_called(uint64_t count)
{
    uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) != 0)
        abort();
    pages[PAGE - 1] = 'a';
    return (nevod_bytes){pages + PAGE - 1, count};
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)host, (void)values, (void)value_count, (void)out, (void)errors;
    CREATE;
    return NEVOD_OK;
}

static void destroy(void *instance)
{
    (void)instance;
}

static const nevod_needs needs_answer = {NEEDS};

static const nevod_needs *needs(void *instance)
{
    (void)instance, (void)needs_answer;
    return NEEDS_ANSWER;
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)instance, (void)token, (void)view, (void)edits, (void)errors, (void)letters, (void)one_byte_called;
    AUTHORIZE;
    return NEVOD_OK;
}

static int32_t token_decode(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors)
{
    (void)instance, (void)bytes, (void)token, (void)errors;
    DECODE;
    return NEVOD_OK;
}

static void token_free(void *instance, void *token)
{
    (void)instance, (void)token;
}

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors)
{
    (void)instance, (void)token, (void)request, (void)response, (void)actions, (void)errors;
    RESPOND;
    return NEVOD_VERDICT_NOTHING;
}

static int32_t flow_begin(void *instance, int32_t kind, void **flow, const nevod_errors *errors)
{
    (void)instance, (void)kind, (void)flow, (void)errors;
    BEGIN;
    return NEVOD_OK;
}

static int32_t flow_step(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    (void)instance, (void)flow, (void)event, (void)actions, (void)errors;
    STEP;
    return NEVOD_OK;
}

static void flow_free(void *instance, void *flow)
{
    (void)instance, (void)flow;
}

static int32_t body_piece(void *instance, void *wrapping, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                          const nevod_errors *errors)
{
    (void)instance, (void)wrapping, (void)piece, (void)is_last, (void)output, (void)errors;
    return NEVOD_INTERNAL;
}

static void body_free(void *instance, void *wrapping)
{
    (void)instance, (void)wrapping;
}

/* A field's later initialiser wins, so a piece replaces an earlier one. */
static const nevod_setting setting = {
    .struct_size = sizeof setting, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("word"), SETTING
};
static const nevod_setting *const settings[] = {SETTINGS};

static const nevod_setting parameter = {
    .struct_size = sizeof parameter, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("scope"), PARAMETER
};
static const nevod_setting *const parameters[] = {PARAMETERS};

static const nevod_scheme scheme = {
    .struct_size = sizeof scheme, .id = NEVOD_BYTES("test"), .title = NEVOD_BYTES("A test"),
    .settings = settings, .setting_count = COUNT(settings),
    .parameters = COUNT(parameters) ? parameters : NULL, .parameter_count = COUNT(parameters),
    .create = create, .destroy = destroy, .needs = needs, .authorize = authorize, SCHEME
};
static const nevod_scheme other = {
    .struct_size = sizeof other, .id = NEVOD_BYTES("other"), .title = NEVOD_BYTES("Another"),
    .create = create, .destroy = destroy, .authorize = authorize,
};
static const nevod_scheme *const schemes[] = {SCHEMES};

static const nevod_plugin plugin = {
    .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
    .scheme_count = COUNT(schemes), .schemes = schemes,
    .name = NEVOD_BYTES("Test"), .version = NEVOD_BYTES("1.0"), PLUGIN
};

NEVOD_EXPORT const nevod_plugin *ENTRY_POINT(void)
{
    (void)plugin, (void)other, (void)parameter, (void)token_decode, (void)token_free, (void)on_response;
    (void)flow_begin, (void)flow_step, (void)flow_free, (void)body_piece, (void)body_free;
    return ANSWER;
}
