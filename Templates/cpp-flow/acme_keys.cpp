// A login with user and password. The server issues an access token, sent on requests, and a renewal, exchanged for a new pair.
#include "nevod_helpers.h"

#include <new>
#include <string>
#include <string_view>

namespace {

nevod_bytes bytes(std::string_view text) { return nevod_span(text.data(), text.size()); }
std::string_view text(nevod_bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.count}; }

// Bytes that are wiped when they are freed.
struct Buffer {
    nevod_buffer buffer = nevod_buffer_empty();

    Buffer() = default;
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { nevod_buffer_free(&buffer); }
    nevod_bytes written() const { return nevod_written(&buffer); }
};

// The stored token is the server's response: {"access": "…", "renewal": "…", "seconds": 3600}. Returns whether it has that member.
bool member(nevod_bytes token, const char *name, Buffer &value)
{
    nevod_bytes json;
    return nevod_json_read(token, &json) && nevod_json_string(nevod_json_member(json, nevod_text(name)), &value.buffer)
        && !value.buffer.failed;
}

struct Scheme {
    std::string server;

    Scheme(const nevod_pair *values, uint32_t count) : server(text(nevod_find(values, count, NEVOD_TEXT("server"))))
    {
        while (server.ends_with('/')) server.pop_back();
    }
};

const nevod_question questions[] = {
    NEVOD_QUESTION(NEVOD_QUESTION_TEXT, "user", "User"),
    NEVOD_QUESTION(NEVOD_QUESTION_SECRET, "password", "Password"),
};

struct Flow {
    int32_t kind, line = 0;

    int32_t step(const Scheme &scheme, const nevod_step *step)
    {
        if (line == 0 && step->event->kind != NEVOD_EVENT_START) return nevod_unexpected(step);
        nevod_bytes server = bytes(scheme.server);
        return kind == NEVOD_FLOW_LOGIN  ? login(server, step)
            : kind == NEVOD_FLOW_REFRESH ? refresh(server, step)
                                         : logout(server, step);
    }

private:
    int32_t login(nevod_bytes server, const nevod_step *step)
    {
        NEVOD_FLOW(&line);
        NEVOD_AWAIT(NEVOD_EVENT_ANSWERS, nevod_ask(step, questions, 2));
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, nevod_post_form(step, server, "/login", step->event->answers, step->event->answer_count));
        return issue(step, NEVOD_DENIED);
        NEVOD_FLOW_END;
    }

    int32_t refresh(nevod_bytes server, const nevod_step *step)
    {
        NEVOD_FLOW(&line);
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(server, "/renew", step));
        return issue(step, NEVOD_BAD_TOKEN);
        NEVOD_FLOW_END;
    }

    int32_t logout(nevod_bytes server, const nevod_step *step)
    {
        NEVOD_FLOW(&line);
        NEVOD_AWAIT(NEVOD_EVENT_RESPONSE, post_renewal(server, "/logout", step));
        return nevod_issue(step, NEVOD_NOTHING, 0, NEVOD_NOTHING);
        NEVOD_FLOW_END;
    }

    static int32_t post_renewal(nevod_bytes server, const char *path, const nevod_step *step)
    {
        Buffer renewal;
        if (step->event->token == nullptr || !member(step->event->token->bytes, "renewal", renewal)) return NEVOD_BAD_TOKEN;
        const nevod_pair field = {NEVOD_TEXT("renewal"), renewal.written()};
        return nevod_post_form(step, server, path, &field, 1);
    }

    static int32_t issue(const nevod_step *step, int32_t refused)
    {
        const nevod_response &response = *step->event->response;
        if (response.status == 401 || response.status == 403)
            return nevod_fail(step->errors, refused, "", "the server refused it");
        Buffer access;
        if (response.status != 200 || !member(response.body, "access", access))
            return nevod_fail(step->errors, NEVOD_UNAVAILABLE, "", "the server's response is no token");
        nevod_bytes json;
        int64_t seconds = 0;
        bool expires = nevod_json_read(response.body, &json)
            && nevod_json_integer(nevod_json_member(json, NEVOD_TEXT("seconds")), &seconds) && seconds > 0
            && seconds < 1'000'000'000;
        int64_t end = expires ? step->event->unix_time_ns + seconds * 1'000'000'000 : 0;
        return nevod_issue(step, response.body, end, NEVOD_NOTHING);
    }
};

// No exception may leave a function of the contract.
template <typename Body> int32_t guarded(const nevod_errors *errors, Body body)
try {
    return body();
} catch (const std::bad_alloc &) {
    return nevod_fail(errors, NEVOD_INTERNAL, "", "out of memory");
}

int32_t create(const nevod_scheme *, const nevod_host *, const nevod_pair *values, uint32_t count, void **out,
               const nevod_errors *errors)
{
    return guarded(errors, [&] { return *out = new Scheme(values, count), NEVOD_OK; });
}

void destroy(void *scheme) { delete static_cast<Scheme *>(scheme); }

// A decoded token is the value of Authorization. Any number of requests may use it at once.
int32_t token_decode(void *, nevod_bytes stored, void **out, const nevod_errors *errors)
{
    return guarded(errors, [&]() -> int32_t {
        auto *line = new Buffer;
        nevod_append_text(&line->buffer, "Bearer ");
        if (member(stored, "access", *line)) {
            *out = line;
            return NEVOD_OK;
        }
        delete line;
        return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "it has no access token");
    });
}

void token_free(void *, void *token) { delete static_cast<Buffer *>(token); }

int32_t authorize(void *, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors)
{
    if (view->target_kind != NEVOD_TARGET_ORIGIN)
        return nevod_fail(errors, NEVOD_UNSUPPORTED, "", "this credential is for a server, not for a proxy");
    if (token == nullptr) return nevod_fail(errors, NEVOD_BAD_TOKEN, "", "there is no token yet: log in first");
    edits->set_header(edits->host, NEVOD_TEXT("Authorization"), static_cast<const Buffer *>(token)->written());
    return NEVOD_OK;
}

int32_t flow_begin(void *, int32_t kind, void **out, const nevod_errors *errors)
{
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH && kind != NEVOD_FLOW_LOGOUT) return NEVOD_UNSUPPORTED;
    return guarded(errors, [&] { return *out = new Flow{kind}, NEVOD_OK; });
}

int32_t flow_step(void *scheme, void *flow, const nevod_event *event, const nevod_actions *actions, const nevod_errors *errors)
{
    nevod_step step = nevod_make_step(event, actions, errors);
    return guarded(errors, [&] { return static_cast<Flow *>(flow)->step(*static_cast<const Scheme *>(scheme), &step); });
}

void flow_free(void *, void *flow) { delete static_cast<Flow *>(flow); }

const nevod_setting server_setting = NEVOD_SETTING(NEVOD_SETTING_URL, NEVOD_SETTING_REQUIRED, "server", "", "Where to log in");
const nevod_setting *const settings[] = {&server_setting};

const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("acme-keys"),
    .title = NEVOD_BYTES("A login with renewal"), .settings = settings, .setting_count = 1,
    .create = create, .destroy = destroy, .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
    .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free};
const nevod_scheme *const schemes[] = {&scheme};

const nevod_plugin plugin = {
    .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT,
    .schemes = schemes, .scheme_count = 1,
    .name = NEVOD_BYTES("AcmeKeysAuth"), .version = NEVOD_BYTES("0.1.0"), .vendor = NEVOD_BYTES("you")};

} // namespace

const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
