/* Runs the flows as a host does: each step gets an event and writes its action to `done`. */
#include "nevod_helpers.h"

#include <stdio.h>

static nevod_buffer done, reported;
static int failures;

static int32_t write_line(const char *what, nevod_bytes first, nevod_bytes second)
{
    nevod_append_text(&done, what);
    nevod_append(&done, first);
    nevod_append_text(&done, " ");
    nevod_append(&done, second);
    return NEVOD_OK;
}

static int32_t set_header(void *host, nevod_bytes name, nevod_bytes value) { (void)host; return write_line("header ", name, value); }

static int32_t send_request(void *host, const nevod_flow_request *request)
{
    (void)host;
    return write_line("send ", request->url, request->body);
}

static int32_t ask(void *host, const nevod_question *const *questions, uint32_t count)
{
    (void)host, (void)count;
    return write_line("ask ", questions[0]->name, questions[1]->name);
}

static int32_t issue_token(void *host, const nevod_token *token)
{
    (void)host;
    write_line("token ", token->bytes, NEVOD_NOTHING);
    nevod_append_decimal(&done, token->expires_at_unix_ns / 1000000000);
    return NEVOD_OK;
}

static void report(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{
    (void)host, (void)subject, (void)detail;
    nevod_append(&reported, message);
}

static void expect(const char *what, nevod_buffer *found, const char *expected)
{
    if (!nevod_equal(nevod_written(found), nevod_text(expected))) {
        failures++;
        fprintf(stderr, "%s: expected\n%s\nfound\n%.*s\n", what, expected, (int)found->count, found->data);
    }
    nevod_buffer_free(found);
    *found = nevod_buffer_empty();
}

#define TOKEN "{\"access\": \"a1\", \"renewal\": \"r1\", \"seconds\": 60}"

static const nevod_host host = {.struct_size = sizeof host};
static const nevod_errors errors = {.struct_size = sizeof errors, .report = report};
static const nevod_edits edits = {.struct_size = sizeof edits, .set_header = set_header};
static const nevod_actions actions = {.struct_size = sizeof actions, .send = send_request, .ask = ask, .token = issue_token};

int main(void)
{
    const nevod_scheme *scheme = nevod_plugin_v1()->schemes[0];
    const nevod_pair server = {NEVOD_TEXT("server"), NEVOD_TEXT("https://id.example.com/")};
    const nevod_pair answers[] = {{NEVOD_TEXT("user"), NEVOD_TEXT("ada")}, {NEVOD_TEXT("password"), NEVOD_TEXT("a&b")}};
    const nevod_token token = {.struct_size = sizeof token, .bytes = NEVOD_TEXT(TOKEN)};
    nevod_response response = {.struct_size = sizeof response, .status = 200, .body = NEVOD_TEXT(TOKEN)};
    nevod_event event = {.struct_size = sizeof event, .unix_time_ns = 1000000000000, .response = &response, .answers = answers,
                         .answer_count = 2};
    const nevod_view view = {.struct_size = sizeof view, .method = NEVOD_TEXT("GET"), .target = NEVOD_TEXT("/")};
    void *instance = NULL, *flow = NULL, *decoded = NULL;

    if (scheme->create(scheme, &host, &server, 1, &instance, &errors) != NEVOD_OK)
        return 1;

    if (scheme->flow_begin(instance, NEVOD_FLOW_LOGIN, &flow, &errors) != NEVOD_OK)
        return 1;
    event.kind = NEVOD_EVENT_START;
    scheme->flow_step(instance, flow, &event, &actions, &errors);
    expect("login, start", &done, "ask user password");
    event.kind = NEVOD_EVENT_ANSWERS;
    scheme->flow_step(instance, flow, &event, &actions, &errors);
    expect("login, answers", &done, "send https://id.example.com/login user=ada&password=a%26b");
    event.kind = NEVOD_EVENT_RESPONSE;
    scheme->flow_step(instance, flow, &event, &actions, &errors);
    expect("login, response", &done, "token " TOKEN " 1060");
    scheme->flow_free(instance, flow);

    if (scheme->flow_begin(instance, NEVOD_FLOW_REFRESH, &flow, &errors) != NEVOD_OK)
        return 1;
    event.kind = NEVOD_EVENT_START;
    event.token = &token;
    scheme->flow_step(instance, flow, &event, &actions, &errors);
    expect("refresh, start", &done, "send https://id.example.com/renew renewal=r1");
    event.kind = NEVOD_EVENT_RESPONSE;
    response.status = 403;
    if (scheme->flow_step(instance, flow, &event, &actions, &errors) != NEVOD_BAD_TOKEN)
        expect("refresh, 403", &done, "BAD_TOKEN");
    expect("refresh, 403", &reported, "the server refused it");
    scheme->flow_free(instance, flow);

    if (scheme->token_decode(instance, token.bytes, &decoded, &errors) != NEVOD_OK)
        return 1;
    scheme->authorize(instance, decoded, &view, &edits, &errors);
    expect("a request", &done, "header Authorization Bearer a1");
    scheme->token_free(instance, decoded);

    if (scheme->token_decode(instance, NEVOD_TEXT("{}"), &decoded, &errors) != NEVOD_BAD_TOKEN)
        expect("an unreadable token", &done, "BAD_TOKEN");
    expect("an unreadable token", &reported, "it has no access token");
    scheme->destroy(instance);

    puts(failures == 0 ? "passed" : "failed");
    return failures != 0;
}
