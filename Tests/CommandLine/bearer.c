/*
 * A scheme with a bearer token that expires: POST {url}/login and POST {url}/renew respond with "TOKEN SECONDS", and the renewal
 * sends the token.
 */
#include "nevod_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))

typedef struct {
    const nevod_host *host;
    char url[256];
} instance;

typedef struct {
    int32_t kind;
} flow;

static void copy(char *to, size_t size, nevod_bytes from)
{
    size_t count = from.count < size - 1 ? (size_t)from.count : size - 1;
    if (count)
        memcpy(to, from.data, count);
    to[count] = 0;
}

static nevod_bytes text(const char *s)
{
    return (nevod_bytes){(const uint8_t *)s, strlen(s)};
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in)
        return NEVOD_INTERNAL;
    in->host = host;
    for (uint32_t i = 0; i < value_count; i++)
        copy(in->url, sizeof in->url, values[i].value);
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in)
{
    free(in);
}

static int32_t token_decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors)
{
    (void)in, (void)errors;
    char *copied = calloc(1, bytes.count + 1);
    if (!copied)
        return NEVOD_INTERNAL;
    memcpy(copied, bytes.data, bytes.count);
    *token = copied;
    return NEVOD_OK;
}

static void token_free(void *in, void *token)
{
    (void)in;
    free(token);
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)in, (void)view, (void)errors;
    char value[600];
    snprintf(value, sizeof value, "Bearer %s", (const char *)token);
    if (token)
        edits->set_header(edits->host, TEXT("Authorization"), text(value));
    return NEVOD_OK;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors)
{
    (void)in, (void)errors;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH)
        return NEVOD_UNSUPPORTED;
    flow *made = calloc(1, sizeof *made);
    if (!made)
        return NEVOD_INTERNAL;
    made->kind = kind;
    *out = made;
    return NEVOD_OK;
}

static void end(void *in, void *made)
{
    (void)in;
    free(made);
}

static int32_t step(void *in, void *made, const nevod_event *event, const nevod_actions *to, const nevod_errors *errors)
{
    (void)errors;
    static const nevod_question PASSWORD = {
        .struct_size = sizeof PASSWORD, .kind = NEVOD_QUESTION_SECRET, .name = NEVOD_BYTES("password"),
        .prompt = NEVOD_BYTES("Password")};
    static const nevod_question *const QUESTIONS[] = {&PASSWORD};
    int is_login = ((flow *)made)->kind == NEVOD_FLOW_LOGIN;
    if (event->kind == NEVOD_EVENT_START && is_login)
        return to->ask(to->host, QUESTIONS, 1);
    if (event->kind == NEVOD_EVENT_START || event->kind == NEVOD_EVENT_ANSWERS) {
        char url[300];
        snprintf(url, sizeof url, "%s/%s", ((instance *)in)->url, is_login ? "login" : "renew");
        nevod_flow_request request = {
            .struct_size = sizeof request, .method = TEXT("POST"), .url = text(url),
            .body = is_login ? event->answers[0].value : event->token->bytes};
        return to->send(to->host, &request);
    }
    if (event->kind != NEVOD_EVENT_RESPONSE)
        return NEVOD_UNAVAILABLE;
    if (event->response->status != 200)
        return is_login ? NEVOD_DENIED : NEVOD_BAD_TOKEN;
    char body[600], issued[512];
    long seconds = 0;
    copy(body, sizeof body, event->response->body);
    if (sscanf(body, "%511s %ld", issued, &seconds) != 2)
        return NEVOD_UNAVAILABLE;
    nevod_token token = {
        .struct_size = sizeof token, .bytes = text(issued), .account = TEXT("ada"),
        .expires_at_unix_ns = (event->unix_time_ns / 1000000000 + seconds) * 1000000000};
    return to->token(to->host, &token);
}

static const nevod_setting URL_SETTING = {
    .struct_size = sizeof URL_SETTING, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED, .name = NEVOD_BYTES("url")};
static const nevod_setting *const SETTINGS[] = {&URL_SETTING};

static const nevod_scheme SCHEME = {
    .struct_size = sizeof SCHEME, .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("bearer"),
    .title = NEVOD_BYTES("A bearer token for tests"), .settings = SETTINGS, .setting_count = 1, .create = create,
    .destroy = destroy, .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
    .flow_begin = begin, .flow_step = step, .flow_free = end};
static const nevod_scheme *const SCHEMES[] = {&SCHEME};

static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1,
    .schemes = SCHEMES, .name = NEVOD_BYTES("Bearer"), .version = NEVOD_BYTES("1.0")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
    return &PLUGIN;
}
