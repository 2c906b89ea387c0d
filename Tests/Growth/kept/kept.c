/*
 * A scheme that uses as much of the contract as fits into one page, and reports in header lines what it was given. Its binary is
 * kept in order to test later hosts with it: see README.md.
 *
 * It calls no library, so that the binary needs none.
 */
#include "nevod_plugin.h"

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))
#define SLOTS 16 /* more than a test needs: nothing is freed */

typedef struct text {
    uint64_t count;
    uint8_t data[256];
} text;

typedef struct instance {
    const nevod_host *host;
    text word, server;
} instance;

static text *new_text(void)
{
    static text texts[SLOTS];
    static uint32_t used;
    const uint32_t slot = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    return slot < SLOTS ? &texts[slot] : (text *)0;
}

static void add(text *to, nevod_bytes from)
{
    for (uint64_t i = 0; i < from.count && to->count < sizeof to->data; i++)
        to->data[to->count++] = from.data[i];
}

static void add_hex(text *to, nevod_bytes from)
{
    for (uint64_t i = 0; i < from.count; i++) {
        const uint8_t two[] = {(uint8_t)"0123456789abcdef"[from.data[i] >> 4], (uint8_t)"0123456789abcdef"[from.data[i] & 15]};
        add(to, (nevod_bytes){two, 2});
    }
}

static void add_number(text *to, uint64_t number)
{
    if (number > 9)
        add_number(to, number / 10);
    const uint8_t digit = (uint8_t)('0' + number % 10);
    add(to, (nevod_bytes){&digit, 1});
}

static nevod_bytes bytes(const text *from)
{
    return (nevod_bytes){from->data, from->count};
}

static int is(nevod_bytes name, nevod_bytes known)
{
    if (name.count != known.count)
        return 0;
    for (uint64_t i = 0; i < name.count; i++)
        if (name.data[i] != known.data[i])
            return 0;
    return 1;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    static instance instances[SLOTS];
    static uint32_t used;
    (void)scheme;
    const uint32_t slot = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (slot >= SLOTS)
        return NEVOD_INTERNAL;
    instance *const in = &instances[slot];
    in->host = host;
    for (uint32_t i = 0; i < value_count; i++) {
        if (is(values[i].name, TEXT("word")))
            add(&in->word, values[i].value);
        if (is(values[i].name, TEXT("server")))
            add(&in->server, values[i].value);
    }
    if (is(bytes(&in->word), TEXT("wrong"))) {
        errors->report(errors->host, TEXT("word"), TEXT("is the wrong one"), TEXT("detail"));
        return NEVOD_BAD_SETTINGS;
    }
    text line = {.count = 0};
    add(&line, TEXT("made by ")), add(&line, host->name), add(&line, TEXT(" 1.")), add_number(&line, host->abi_minor);
    host->log(host->host, NEVOD_LOG_WARNING, bytes(&line));
    if (host->get_extension(host->host, TEXT("example.unknown/1")))
        return NEVOD_INTERNAL;
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in)
{
    (void)in;
}

static const nevod_needs *needs(void *in)
{
    static const nevod_bytes digests[] = {NEVOD_BYTES("sha-256")};
    static const nevod_needs table = {
        .struct_size = sizeof table, .digests = digests, .digest_count = 1,
        .flags = NEVOD_NEED_BODY | NEVOD_NEED_HEADERS | NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_RANDOM |
                 NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT};
    (void)in;
    return &table;
}

static int32_t token_decode(void *in, nevod_bytes stored, void **token, const nevod_errors *errors)
{
    (void)in, (void)errors;
    text *const made = new_text();
    if (!made)
        return NEVOD_INTERNAL;
    add(made, stored);
    *token = made;
    return NEVOD_OK;
}

static void token_free(void *in, void *token)
{
    (void)in, (void)token;
}

static int32_t authorize(void *self, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    const instance *const in = self;
    if (view->target_kind != NEVOD_TARGET_ORIGIN || view->body_kind > NEVOD_BODY_STREAM) {
        errors->report(errors->host, TEXT(""), TEXT("only for origins"), TEXT(""));
        return NEVOD_UNSUPPORTED;
    }
    if (!token)
        return NEVOD_BAD_TOKEN;
    text line = {.count = 0}, digest = {.count = 0}, numbers = {.count = 0};
    add(&line, view->method), add(&line, TEXT(" ")), add(&line, view->scheme), add(&line, TEXT(" "));
    add(&line, view->authority), add(&line, TEXT(" ")), add(&line, view->target);
    for (uint32_t i = 0; i < view->digest_count; i++)
        add(&digest, view->digests[i].name), add(&digest, TEXT(" ")), add_hex(&digest, view->digests[i].value);
    add(&numbers, TEXT("attempt ")), add_number(&numbers, view->attempt);
    add(&numbers, TEXT(", uses ")), add_number(&numbers, view->use_count);
    add(&numbers, TEXT(", body ")), add_number(&numbers, view->body.count);
    add(&numbers, TEXT(", length ")), add_number(&numbers, view->body_length);
    add(&numbers, TEXT(", kind ")), add_number(&numbers, (uint32_t)view->body_kind);
    add(&numbers, TEXT(", random ")), add_number(&numbers, view->random.count);
    add(&numbers, TEXT(", after 2020 ")), add_number(&numbers, view->unix_time_ns > 1577836800000000000);
    edits->set_header(edits->host, TEXT("X-Word"), bytes(&in->word));
    edits->set_header(edits->host, TEXT("X-Line"), bytes(&line));
    edits->set_header(edits->host, TEXT("X-Digest"), bytes(&digest));
    edits->set_header(edits->host, TEXT("X-Numbers"), bytes(&numbers));
    edits->set_header(edits->host, TEXT("X-State"), view->state);
    edits->set_header(edits->host, TEXT("X-Token"), bytes(token));
    for (uint32_t i = 0; i < view->header_count; i++)
        if (is(view->headers[i].name, TEXT("X-Mine")))
            edits->add_header(edits->host, TEXT("X-Seen"), view->headers[i].value);
    edits->add_cookie(edits->host, TEXT("kept"), TEXT("1"));
    edits->add_query(edits->host, TEXT("kept"), TEXT("a b"));
    return NEVOD_OK;
}

static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors)
{
    (void)in, (void)token, (void)request, (void)errors;
    for (uint32_t i = 0; i < response->header_count; i++) {
        if (!is(response->headers[i].name, TEXT("X-Nonce")))
            continue;
        actions->set_state(actions->host, response->headers[i].value);
        return response->status == 401 ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_STATE_CHANGED;
    }
    return NEVOD_VERDICT_NOTHING;
}

static int32_t flow_begin(void *in, int32_t kind, void **flow, const nevod_errors *errors)
{
    (void)in, (void)flow, (void)errors;
    return kind == NEVOD_FLOW_LOGIN ? NEVOD_OK : NEVOD_UNSUPPORTED;
}

static int32_t flow_step(void *self, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    static const nevod_bytes choices[] = {NEVOD_BYTES("red"), NEVOD_BYTES("blue")};
    static const nevod_question user = {
        .struct_size = sizeof user, .kind = NEVOD_QUESTION_TEXT, .name = NEVOD_BYTES("user"), .prompt = NEVOD_BYTES("User")};
    static const nevod_question color = {
        .struct_size = sizeof color, .kind = NEVOD_QUESTION_CHOICE, .name = NEVOD_BYTES("color"), .prompt = NEVOD_BYTES("Color"),
        .choices = choices, .choice_count = 2};
    static const nevod_question *const questions[] = {&user, &color};
    const instance *const in = self;
    (void)flow;
    switch (event->kind) {
    case NEVOD_EVENT_START:
        return actions->ask(actions->host, questions, 2);
    case NEVOD_EVENT_ANSWERS: {
        text url = {.count = 0}, body = {.count = 0};
        for (uint32_t i = 0; i < event->answer_count; i++) {
            add(&body, event->answers[i].name), add(&body, TEXT("="));
            add(&body, event->answers[i].value), add(&body, TEXT(";"));
        }
        add(&url, bytes(&in->server)), add(&url, TEXT("/login"));
        const nevod_pair header = {TEXT("X-Flow"), bytes(&in->word)};
        const nevod_flow_request request = {
            .struct_size = sizeof request, .method = NEVOD_BYTES("POST"), .url = bytes(&url), .headers = &header,
            .header_count = 1, .body = bytes(&body), .follow_redirects = 1};
        return actions->send(actions->host, &request);
    }
    case NEVOD_EVENT_RESPONSE: {
        if (event->response->status != 200) {
            errors->report(errors->host, TEXT("login"), TEXT("was refused"), TEXT(""));
            return NEVOD_DENIED;
        }
        const nevod_token token = {.struct_size = sizeof token, .bytes = event->response->body};
        return actions->keep(actions->host, &token);
    }
    case NEVOD_EVENT_KEPT:
        return actions->wait(actions->host, 1000000);
    case NEVOD_EVENT_TIMER: {
        const nevod_token token = {.struct_size = sizeof token, .bytes = NEVOD_BYTES("the last token"), .account = NEVOD_BYTES("ada")};
        actions->set_state(actions->host, TEXT("from the login"));
        return actions->token(actions->host, &token);
    }
    case NEVOD_EVENT_CANCELLED:
    case NEVOD_EVENT_TRANSPORT_ERROR:
        return NEVOD_UNAVAILABLE;
    default:
        return NEVOD_UNSUPPORTED;
    }
}

static void flow_free(void *in, void *flow)
{
    (void)in, (void)flow;
}

static const nevod_setting word = {
    .struct_size = sizeof word, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("word"), .default_value = NEVOD_BYTES("none"),
    .help = NEVOD_BYTES("Sent as X-Word")};
static const nevod_setting server = {
    .struct_size = sizeof server, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED, .name = NEVOD_BYTES("server"),
    .help = NEVOD_BYTES("Where to log in")};
static const nevod_setting *const settings[] = {&word, &server};

static const nevod_scheme scheme = {
    .struct_size = sizeof scheme, .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("kept"), .title = NEVOD_BYTES("A kept scheme"),
    .settings = settings, .setting_count = 2,
    .create = create, .destroy = destroy, .needs = needs, .token_decode = token_decode, .token_free = token_free,
    .authorize = authorize, .on_response = on_response,
    .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free};
static const nevod_scheme *const schemes[] = {&scheme};

static const nevod_plugin plugin = {
    .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .schemes = schemes, .scheme_count = 1,
    .name = NEVOD_BYTES("Kept"), .version = NEVOD_BYTES("1.0.0"), .vendor = NEVOD_BYTES("NevodHost")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
    return &plugin;
}
