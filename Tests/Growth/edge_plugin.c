/*
 * A scheme whose structs all end at the edge of accessible memory. A host that reads beyond a struct_size crashes. It logs in at
 * its setting "server" with every action that takes a struct, and keeps a response's token.
 */
#define _DEFAULT_SOURCE
#include "nevod_plugin.h"

#include "edge.h"

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))
#define AT_EDGE(type, ...) ((const type *)at_edge(&(const type){.struct_size = sizeof(type), __VA_ARGS__}, sizeof(type)))

typedef struct {
    const nevod_host *host;
    char login[512];
    const nevod_needs *needs;
} instance;

/* For a struct that is too short: only struct_size is accessible. */
__attribute__((unused)) static const void *only_a_size(void)
{
    return at_edge(&(const uint32_t[]){8, 0}, 8);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in)
        return NEVOD_INTERNAL;
    for (uint32_t i = 0; i < value_count; i++)
        if (values[i].value.count < sizeof in->login - 6)
            memcpy(in->login, values[i].value.data, values[i].value.count);
    strcat(in->login, "/login");
    in->host = host;
    in->needs = AT_EDGE(nevod_needs, .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_HEADERS);
#ifdef SHORT_NEEDS
    in->needs = only_a_size();
#endif
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in)
{
    free(in);
}

static const nevod_needs *needs(void *in)
{
    return ((instance *)in)->needs;
}

static int32_t token_decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors)
{
    (void)in, (void)errors;
    char *copy = calloc(1, bytes.count + 1);
    if (!copy)
        return NEVOD_INTERNAL;
    memcpy(copy, bytes.data, bytes.count);
    *token = copy;
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
    nevod_bytes value = {token, token ? strlen(token) : 0};
    edits->set_header(edits->host, TEXT("X-Token"), value);
    return NEVOD_OK;
}

static const nevod_token *a_token(nevod_bytes bytes)
{
#ifdef SHORT_TOKEN
    return only_a_size();
#endif
    return AT_EDGE(nevod_token, .bytes = bytes, .account = NEVOD_BYTES("ada"));
}

static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors)
{
    (void)in, (void)token, (void)request, (void)errors;
    for (uint32_t i = 0; i < response->header_count; i++)
        if (response->headers[i].name.count == 6 && memcmp(response->headers[i].name.data, "X-Next", 6) == 0)
            actions->keep(actions->host, a_token(response->headers[i].value));
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
    (void)flow, (void)errors;
    instance *in = self;
    switch (event->kind) {
    case NEVOD_EVENT_START: {
        const nevod_question *const question = AT_EDGE(
            nevod_question, .kind = NEVOD_QUESTION_TEXT, .name = NEVOD_BYTES("user"), .prompt = NEVOD_BYTES("User"));
        return actions->ask(actions->host, at_edge(&question, sizeof question), 1);
    }
    case NEVOD_EVENT_ANSWERS:
        return actions->listen(actions->host, AT_EDGE(nevod_listen, .path = NEVOD_BYTES("/back")));
    case NEVOD_EVENT_LISTENING: {
        const nevod_pair header = {NEVOD_BYTES("X-Flow"), event->url};
        return actions->send(
            actions->host, AT_EDGE(nevod_flow_request, .method = NEVOD_BYTES("POST"),
                                   .url = {(const uint8_t *)in->login, strlen(in->login)},
                                   .headers = at_edge(&header, sizeof header), .header_count = 1));
    }
    case NEVOD_EVENT_RESPONSE:
        return actions->keep(actions->host, a_token(event->response->body));
    case NEVOD_EVENT_KEPT:
        return actions->token(actions->host, a_token(TEXT("second")));
    default:
        return NEVOD_UNSUPPORTED;
    }
}

static void flow_free(void *in, void *flow)
{
    (void)in, (void)flow;
}

static const nevod_plugin *make(void)
{
#ifdef SHORT_SCHEME
    const nevod_scheme *const short_scheme = only_a_size();
    return AT_EDGE(nevod_plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
                   .schemes = at_edge(&short_scheme, sizeof short_scheme), .scheme_count = 1,
                   .name = NEVOD_BYTES("Edge"), .version = NEVOD_BYTES("1.0"));
#endif
    const nevod_setting *const setting = AT_EDGE(
        nevod_setting, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED, .name = NEVOD_BYTES("server"));
    const nevod_setting *const parameter = AT_EDGE(
        nevod_setting, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("scope"));
    const nevod_scheme *const scheme = AT_EDGE(
        nevod_scheme, .id = NEVOD_BYTES("edge"), .title = NEVOD_BYTES("Structs at the edge"),
        .settings = at_edge(&setting, sizeof setting), .setting_count = 1,
        .parameters = at_edge(&parameter, sizeof parameter), .parameter_count = 1,
        .create = create, .destroy = destroy, .needs = needs, .token_decode = token_decode, .token_free = token_free,
        .authorize = authorize, .on_response = on_response,
        .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free);
    return AT_EDGE(nevod_plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
                   .schemes = at_edge(&scheme, sizeof scheme), .scheme_count = 1,
                   .name = NEVOD_BYTES("Edge"), .version = NEVOD_BYTES("1.0"));
}

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
#ifdef SHORT_PLUGIN
    return only_a_size();
#endif
    static const nevod_plugin *plugin; /* called on one thread in these tests */
    if (!plugin)
        plugin = make();
    return plugin;
}
