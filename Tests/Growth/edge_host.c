/*
 * A host whose structs all end at the edge of accessible memory, and are as short as the contract permits. A plugin that reads a
 * later field without NEVOD_HAS crashes. The host prints what the plugin does.
 *
 *     edge_host LIBRARY SCHEME [NAME=VALUE ...]
 *
 * Makes an instance of the scheme with these settings. If the scheme has flows, runs a login: each request gets a response with
 * status 200 and the body {"token":"tok-1"}, and each question gets the answer "answered". Then authorizes a request with the
 * token, shows a response, and passes kinds that no version of the contract has.
 */
#define _DEFAULT_SOURCE
#include "nevod_plugin.h"

#include <dlfcn.h>
#include <stdio.h>

#include "edge.h"

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))
#define STEPS 50 /* more than any login here takes */
#define SHORTEST(type, minimum, ...) \
    ((const type *)at_edge(&(const type){.struct_size = minimum, __VA_ARGS__}, minimum))

static void show(const char *word, nevod_bytes bytes)
{
    printf("%s%.*s", word, (int)bytes.count, bytes.count ? (const char *)bytes.data : "");
}

static nevod_bytes copy(nevod_bytes bytes)
{
    uint8_t *block = calloc(1, bytes.count + 1);
    if (!block)
        abort();
    if (bytes.count)
        memcpy(block, bytes.data, bytes.count);
    return (nevod_bytes){block, bytes.count};
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Sinks.                                                                                                             */

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{
    (void)host, (void)detail;
    show("report ", subject), show(": ", message), puts("");
}

static const nevod_errors *errors(void)
{
    return SHORTEST(nevod_errors, NEVOD_ERRORS_MINIMUM, .report = report);
}

static void log_line(void *host, int32_t level, nevod_bytes message)
{
    (void)host;
    printf("log %d", level), show(" ", message), puts("");
}

static const void *no_extension(void *host, nevod_bytes name)
{
    (void)host, (void)name;
    return NULL;
}

static int32_t set_header(void *host, nevod_bytes name, nevod_bytes value)
{
    (void)host;
    show("header ", name), show(": ", value), puts("");
    return NEVOD_OK;
}

static int32_t no_body(void *host, nevod_bytes body)
{
    (void)host, (void)body;
    return NEVOD_UNSUPPORTED;
}

static int32_t no_wrapping(void *host, uint64_t length, void *wrapping)
{
    (void)host, (void)length, (void)wrapping;
    return NEVOD_UNSUPPORTED;
}

static const nevod_edits *edits(void)
{
    return SHORTEST(nevod_edits, NEVOD_EDITS_MINIMUM, .set_header = set_header, .add_header = set_header,
                    .add_query = set_header, .add_cookie = set_header, .replace_body = no_body, .wrap_body = no_wrapping);
}

/* The action of a step, and the bytes of the last token. */
static struct {
    int32_t next; /* the event that follows; 0 if there is none */
    nevod_pair answers[NEVOD_LIMIT_QUESTIONS];
    uint32_t answer_count;
    nevod_bytes token;
} taken;

static int32_t take(int32_t next)
{
    taken.next = next;
    return NEVOD_OK;
}

static int32_t send_request(void *host, const nevod_flow_request *request)
{
    (void)host;
    show("send ", request->method), show(" ", request->url), show(" ", request->body), puts("");
    return take(NEVOD_EVENT_RESPONSE);
}

static int32_t ask(void *host, const nevod_question *const *questions, uint32_t count)
{
    (void)host;
    for (taken.answer_count = 0; taken.answer_count < count && taken.answer_count < NEVOD_LIMIT_QUESTIONS; taken.answer_count++) {
        const nevod_question *question = questions[taken.answer_count];
        show("ask ", question->name), puts("");
        taken.answers[taken.answer_count] = (nevod_pair){copy(question->name), TEXT("answered")};
    }
    return take(NEVOD_EVENT_ANSWERS);
}

static int32_t show_text(void *host, nevod_bytes text, nevod_bytes url)
{
    (void)host;
    show("show ", text), show(" ", url), puts("");
    return take(NEVOD_EVENT_SHOWN);
}

static int32_t open_redirect(void *host, const nevod_listen *options)
{
    (void)host;
    show("listen ", options->path), puts("");
    return take(NEVOD_EVENT_LISTENING);
}

static int32_t browse(void *host, nevod_bytes url)
{
    (void)host;
    show("browse ", url), puts("");
    return take(NEVOD_EVENT_REDIRECT);
}

static int32_t wait_for(void *host, uint64_t nanoseconds)
{
    (void)host;
    printf("wait %llu\n", (unsigned long long)nanoseconds);
    return take(NEVOD_EVENT_TIMER);
}

static int32_t keep(void *host, const nevod_token *token)
{
    (void)host;
    show("keep ", token->bytes), puts("");
    return take(NEVOD_EVENT_KEPT);
}

static int32_t take_token(void *host, const nevod_token *token)
{
    (void)host;
    show("token ", token->bytes), show(" of ", token->account), puts("");
    taken.token = copy(token->bytes);
    return take(0);
}

static int32_t set_state(void *host, nevod_bytes state)
{
    (void)host;
    show("state ", state), puts("");
    return NEVOD_OK;
}

static const nevod_actions *actions(void)
{
    return SHORTEST(nevod_actions, NEVOD_ACTIONS_MINIMUM, .send = send_request, .ask = ask, .show = show_text,
                    .listen = open_redirect, .browse = browse, .wait = wait_for, .keep = keep, .token = take_token,
                    .set_state = set_state);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Input.                                                                                                             */

static const uint8_t random_bytes[32] = {1, 2, 3};

static const nevod_view *view(int32_t target_kind, int32_t body_kind)
{
    static const nevod_pair headers[] = {{NEVOD_BYTES("Host"), NEVOD_BYTES("api.example.com")}};
    return SHORTEST(nevod_view, NEVOD_VIEW_MINIMUM, .target_kind = target_kind, .method = NEVOD_BYTES("GET"),
                    .scheme = NEVOD_BYTES("https"), .authority = NEVOD_BYTES("api.example.com"), .target = NEVOD_BYTES("/a?b"),
                    .headers = headers, .header_count = 1, .body_kind = body_kind, .attempt = 1,
                    .unix_time_ns = 1767225600000000000, .random = {random_bytes, sizeof random_bytes});
}

static const nevod_response *response(int32_t status)
{
    static const nevod_pair headers[] = {
        {NEVOD_BYTES("Content-Type"), NEVOD_BYTES("application/json")},
        {NEVOD_BYTES("WWW-Authenticate"), NEVOD_BYTES("Stale nonce=two")}};
    return SHORTEST(nevod_response, NEVOD_RESPONSE_MINIMUM, .status = status, .headers = headers, .header_count = 2,
                    .body = NEVOD_BYTES("{\"token\":\"tok-1\"}"), .url = NEVOD_BYTES("https://api.example.com/login"));
}

static const nevod_event *event(int32_t kind)
{
    nevod_event made = {
        .struct_size = NEVOD_EVENT_MINIMUM, .kind = kind, .unix_time_ns = 1767225600000000000,
        .random = {random_bytes, sizeof random_bytes}};
    if (kind == NEVOD_EVENT_RESPONSE)
        made.response = response(200);
    if (kind == NEVOD_EVENT_ANSWERS) {
        made.answers = taken.answers;
        made.answer_count = taken.answer_count;
    }
    if (kind == NEVOD_EVENT_LISTENING || kind == NEVOD_EVENT_REDIRECT)
        made.url = TEXT("http://127.0.0.1:9/back?code=1");
    return at_edge(&made, NEVOD_EVENT_MINIMUM);
}

/* ---------------------------------------------------------------------------------------------------------------- */

static void log_in(const nevod_scheme *scheme, void *instance)
{
    void *flow = NULL;
    printf("flow_begin %d\n", scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow, errors()));
    taken.next = NEVOD_EVENT_START;
    for (int step = 0; taken.next != 0 && step < STEPS; step++) {
        const nevod_event *const now = event(taken.next);
        taken.next = 0;
        const int32_t status = scheme->flow_step(instance, flow, now, actions(), errors());
        if (status != NEVOD_OK) {
            printf("flow_step %d\n", status);
            break;
        }
    }
    scheme->flow_free(instance, flow);
}

static void pass_unknown_kinds(const nevod_scheme *scheme, void *instance, const void *token)
{
    printf("target 7: %d\n", scheme->authorize(instance, token, view(7, NEVOD_BODY_NONE), edits(), errors()));
    printf("body 7: %d\n", scheme->authorize(instance, token, view(NEVOD_TARGET_ORIGIN, 7), edits(), errors()));
    if (!scheme->flow_begin)
        return;
    void *flow = NULL;
    printf("flow 7: %d\n", scheme->flow_begin(instance, 7, &flow, errors()));
    if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow, errors()) != NEVOD_OK)
        abort();
    if (scheme->flow_step(instance, flow, event(NEVOD_EVENT_START), actions(), errors()) != NEVOD_OK)
        abort();
    printf("event 77: %d\n", scheme->flow_step(instance, flow, event(77), actions(), errors()));
    scheme->flow_free(instance, flow);
}

static nevod_bytes text(const char *string)
{
    return (nevod_bytes){(const uint8_t *)string, strlen(string)};
}

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* the lines before a crash are printed */
    void *const library = count > 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "usage: edge_host LIBRARY SCHEME [NAME=VALUE ...]; %s\n", count > 2 ? dlerror() : "");
        return 2;
    }
    const nevod_plugin *(*entry)(void);
    *(void **)&entry = dlsym(library, "nevod_plugin_v1");
    const nevod_plugin *const plugin = entry();
    const nevod_scheme *scheme = NULL;
    for (uint32_t i = 0; i < plugin->scheme_count; i++)
        if (plugin->schemes[i]->id.count == strlen(words[2]) && !memcmp(plugin->schemes[i]->id.data, words[2], strlen(words[2])))
            scheme = plugin->schemes[i];
    if (!scheme)
        return 2;

    nevod_pair values[16];
    uint32_t value_count = 0;
    for (int i = 3; i < count && value_count < 16; i++) {
        char *const equals = strchr(words[i], '=');
        if (!equals)
            return 2;
        values[value_count++] = (nevod_pair){{(const uint8_t *)words[i], (uint64_t)(equals - words[i])}, text(equals + 1)};
    }
    const nevod_host *const host = SHORTEST(
        nevod_host, NEVOD_HOST_MINIMUM, .name = NEVOD_BYTES("EdgeHost"), .version = NEVOD_BYTES("1"), .log = log_line,
        .get_extension = no_extension);
    void *instance = NULL;
    const int32_t created = scheme->create(scheme, host, values, value_count, &instance, errors());
    printf("create %d\n", created);
    if (created != NEVOD_OK)
        return 1;
    if (scheme->needs && scheme->needs(instance))
        printf("needs 0x%x\n", scheme->needs(instance)->flags);

    void *token = NULL;
    if (scheme->flow_begin) {
        log_in(scheme, instance);
        if (scheme->token_decode)
            printf("token_decode %d\n", scheme->token_decode(instance, taken.token, &token, errors()));
    }
    const nevod_view *const request = view(NEVOD_TARGET_ORIGIN, NEVOD_BODY_NONE);
    printf("authorize %d\n", scheme->authorize(instance, token, request, edits(), errors()));
    if (scheme->on_response)
        printf("on_response %d\n", scheme->on_response(instance, token, request, response(401), actions(), errors()));
    pass_unknown_kinds(scheme, instance, token);
    if (scheme->token_free && token)
        scheme->token_free(instance, token);
    scheme->destroy(instance);
    puts("done");
    return 0;
}
