// A scheme whose flows act as the setting "mode" says, validly or not. Its tokens are texts, which `authorize` writes as X-Token.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nevod_plugin.h"

static const nevod_bytes NOTHING = {NULL, 0};
static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

typedef struct {
    const nevod_host *host;
    char mode[64], url[256];
} instance;

typedef struct {
    instance *in;
    int32_t kind;
    int steps;
} flow;

static const nevod_setting MODE = {
    .struct_size = sizeof MODE, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("mode"), .default_value = NEVOD_BYTES("token")};
static const nevod_setting URL = {.struct_size = sizeof URL, .kind = NEVOD_SETTING_URL, .name = NEVOD_BYTES("url")};
static const nevod_setting ISSUER = {
    .struct_size = sizeof ISSUER, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_ISSUER, .name = NEVOD_BYTES("issuer")};
static const nevod_setting *const SETTINGS[] = {&MODE, &URL, &ISSUER};

static void copy(char *to, size_t size, nevod_bytes from) {
    size_t count = from.count < size - 1 ? (size_t)from.count : size - 1;
    if (count) memcpy(to, from.data, count);
    to[count] = 0;
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **out,
                      const nevod_errors *errors) {
    (void)scheme, (void)errors;
    instance *in = calloc(1, sizeof *in);
    if (!in) return NEVOD_INTERNAL;
    in->host = host;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].name.count == 4) copy(in->mode, sizeof in->mode, values[i].value);
        else copy(in->url, sizeof in->url, values[i].value);
    }
    *out = in;
    return NEVOD_OK;
}

static void destroy(void *in) { free(in); }

static const nevod_needs *needs(void *in) {
    static const int32_t REDIRECT = 302;
    static const nevod_needs NEEDS = {
        .struct_size = sizeof NEEDS, .challenge_statuses = &REDIRECT, .challenge_status_count = 1,
        .flags = NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT | NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES};
    static const nevod_needs NONE = {.struct_size = sizeof NONE};
    return strncmp(((instance *)in)->mode, "nonce", 5) ? &NONE : &NEEDS;
}

static int32_t token_decode(void *in, nevod_bytes bytes, void **token, const nevod_errors *errors) {
    (void)in;
    if (bytes.count >= 3 && !memcmp(bytes.data, "bad", 3)) {
        errors->report(errors->host, NOTHING, text("it begins with bad"), NOTHING);
        return NEVOD_BAD_TOKEN;
    }
    char *copied = calloc(1, bytes.count + 1);
    if (!copied) return NEVOD_INTERNAL;
    memcpy(copied, bytes.data, bytes.count);
    *token = copied;
    return NEVOD_OK;
}

static void token_free(void *in, void *token) {
    (void)in;
    free(token);
}

static int32_t authorize(void *in, const void *token, const nevod_view *view, const nevod_edits *edits, const nevod_errors *errors) {
    (void)errors;
    if (token) edits->set_header(edits->host, text("X-Token"), text(token));
    if (!strncmp(((instance *)in)->mode, "nonce", 5) && view->state.count) {
        char number[24];
        size_t at = sizeof number;
        uint64_t rest = view->use_count;
        do number[--at] = (char)('0' + rest % 10), rest /= 10;
        while (rest);
        edits->set_header(edits->host, text("X-Nonce"), view->state);
        edits->set_header(edits->host, text("X-Count"), (nevod_bytes){(uint8_t *)number + at, sizeof number - at});
    }
    return NEVOD_OK;
}

static int32_t on_response(void *in, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors) {
    (void)token, (void)errors;
    const char *mode = ((instance *)in)->mode;
    for (uint32_t i = 0; i < response->header_count; i++) {
        if (response->headers[i].name.count != 7 || memcmp(response->headers[i].name.data, "X-Fresh", 7)) continue;
        if (!strncmp(mode, "nonce-challenge", 15)) return NEVOD_VERDICT_CHALLENGE;
        if (!strcmp(mode, "nonce-verdict")) return 99;
        if (!strcmp(mode, "nonce-keep") || !strcmp(mode, "nonce-keep-time")) {
            nevod_token next = {.struct_size = sizeof next, .bytes = response->headers[i].value, .account = text("me")};
            if (mode[10]) next.expires_at_unix_ns = request->unix_time_ns + 60000000000;
            actions->keep(actions->host, &next);
            return NEVOD_VERDICT_NOTHING;
        }
        if (!strcmp(mode, "nonce-action")) actions->wait(actions->host, 1);
        actions->set_state(actions->host, response->headers[i].value);
        return response->status == 401 ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_STATE_CHANGED;
    }
    return NEVOD_VERDICT_NOTHING;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors) {
    const char *mode = ((instance *)in)->mode;
    if (!strcmp(mode, "no-flows")) return NEVOD_UNSUPPORTED;
    if (!strncmp(mode, "begin ", 6)) {
        errors->report(errors->host, NOTHING, text("there is no card"), NOTHING);
        return atoi(mode + 6);
    }
    if (!strncmp(mode, "login-only", 10) && kind != NEVOD_FLOW_LOGIN) return NEVOD_UNSUPPORTED;
    if (!strcmp(mode, "nonce-challenge-only") && kind != NEVOD_FLOW_CHALLENGE) return NEVOD_UNSUPPORTED;
    flow *made = calloc(1, sizeof *made);
    if (!made) return NEVOD_INTERNAL;
    made->in = in;
    made->kind = kind;
    *out = made;
    return NEVOD_OK;
}

static void end(void *in, void *made) {
    (void)in;
    char line[64] = "freed after 00 steps";
    line[12] = (char)('0' + ((flow *)made)->steps / 10 % 10);
    line[13] = (char)('0' + ((flow *)made)->steps % 10);
    const nevod_host *host = ((flow *)made)->in->host;
    host->log(host->host, NEVOD_LOG_DEBUG, text(line));
    free(made);
}

static int32_t give(const nevod_actions *to, nevod_bytes bytes) {
    nevod_token token = {.struct_size = sizeof token, .bytes = bytes, .account = text("me")};
    return to->token(to->host, &token);
}

static int32_t request(const nevod_actions *to, const char *method, const char *url, const char *path, nevod_bytes body,
                       int32_t follow) {
    char whole[512];
    strcpy(whole, url);
    strcat(whole, path);
    nevod_pair header = {text("X-Flow"), text("1")};
    nevod_flow_request made = {
        .struct_size = sizeof made, .method = text(method), .url = text(whole), .headers = &header, .header_count = 1, .body = body,
        .follow_redirects = follow};
    return to->send(to->host, &made);
}

static int32_t ask(const nevod_actions *to) {
    static const nevod_question QUESTION = {
        .struct_size = sizeof QUESTION, .kind = NEVOD_QUESTION_SECRET, .name = NEVOD_BYTES("password"),
        .prompt = NEVOD_BYTES("Password")};
    static const nevod_question *const QUESTIONS[] = {&QUESTION};
    return to->ask(to->host, QUESTIONS, 1);
}

// Issues a number as a token that expires a minute after the event.
static int32_t give_number(const nevod_actions *to, int64_t number, int64_t now) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    nevod_token token = {
        .struct_size = sizeof token, .bytes = text(digits), .expires_at_unix_ns = now + 60000000000, .account = text("me")};
    return to->token(to->host, &token);
}

// A question of a kind that no host knows.
static int32_t ask_passkey(const nevod_actions *to) {
    static const nevod_question QUESTION = {
        .struct_size = sizeof QUESTION, .kind = 99, .name = NEVOD_BYTES("passkey"), .prompt = NEVOD_BYTES("Passkey")};
    static const nevod_question *const QUESTIONS[] = {&QUESTION};
    return to->ask(to->host, QUESTIONS, 1);
}

static void note(flow *f, const char *what, int32_t status) {
    char line[64];
    snprintf(line, sizeof line, "%s: %d", what, (int)status);
    f->in->host->log(f->in->host->host, NEVOD_LOG_DEBUG, text(line));
}

// The mode is "listen FLAGS PORT HOST [PATH]". The token is the redirect's URL and the form.
static int32_t listen_as_told(flow *f, const nevod_event *event, const nevod_actions *to, const nevod_errors *errors) {
    char address[512], host[32] = "", path[300] = "/back";
    unsigned flags = 0, port = 0;
    sscanf(f->in->mode, "listen %u %u %31s %299s", &flags, &port, host, path);
    switch (event->kind) {
    case NEVOD_EVENT_START: {
        nevod_listen options = {
            .struct_size = sizeof options, .flags = flags, .port = port, .path = text(path), .host = text(strcmp(host, "-") ? host : "")};
        int32_t status = to->listen(to->host, &options);
        note(f, "listen", status);
        return status == NEVOD_UNSUPPORTED ? give(to, text("unsupported")) : NEVOD_OK;
    }
    case NEVOD_EVENT_LISTENING:
        snprintf(address, sizeof address, "%s/authorize?redirect_uri=%.*s", f->in->url, (int)event->url.count,
                 (const char *)event->url.data);
        return to->browse(to->host, text(address)), NEVOD_OK;
    case NEVOD_EVENT_REDIRECT:
        snprintf(address, sizeof address, "%.*s\n%.*s", (int)event->url.count, (const char *)event->url.data, (int)event->body.count,
                 (const char *)event->body.data);
        return give(to, text(address)), NEVOD_OK;
    default:
        note(f, "transport error", event->transport_error);
        errors->report(errors->host, NOTHING, event->message, NOTHING);
        return NEVOD_UNAVAILABLE;
    }
}

static int32_t exchange(flow *f, const nevod_event *event, const nevod_actions *to, const char *path) {
    if (event->kind == NEVOD_EVENT_START)
        return request(to, "POST", f->in->url, path, event->token ? event->token->bytes : text("login"), 1);
    if (event->kind != NEVOD_EVENT_RESPONSE) return NEVOD_UNAVAILABLE;
    if (event->response->status == 200) return f->kind == NEVOD_FLOW_LOGOUT ? give(to, NOTHING) : give(to, event->response->body);
    return event->response->status == 400 ? NEVOD_DENIED : NEVOD_UNAVAILABLE;
}

static int32_t step(void *in, void *made, const nevod_event *event, const nevod_actions *to, const nevod_errors *errors) {
    (void)in;
    flow *f = made;
    const char *mode = f->in->mode, *url = f->in->url;
    f->steps++;
#define MODE(name) if (!strcmp(mode, name))
    MODE("endless-send") return request(to, "GET", url, "/", NOTHING, 0), NEVOD_OK;
    MODE("ignores-cancel") return request(to, "GET", url, "/", NOTHING, 0), NEVOD_OK;
    MODE("endless-wait") return to->wait(to->host, 1000), NEVOD_OK;
    MODE("long-wait") return to->wait(to->host, UINT64_MAX), NEVOD_OK;
    MODE("login-only-ask") return event->kind == NEVOD_EVENT_START ? ask(to) : give(to, text("asked")), NEVOD_OK;
    MODE("endless-ask") return ask(to), NEVOD_OK;
    MODE("no-action") return NEVOD_OK;
    MODE("two-actions") return to->show(to->host, text("hello"), NOTHING), give(to, text("T")), NEVOD_OK;
    MODE("status") return 99;
    MODE("foreign") return request(to, "GET", "http://other.invalid", "/", NOTHING, 0), NEVOD_OK;
    MODE("smuggle") return request(to, "GET", url, "/ HTTP/1.1\r\nX: y", NOTHING, 0), NEVOD_OK;
    MODE("browse") return to->browse(to->host, text(url)), NEVOD_OK;
    MODE("give-up") {
        errors->report(errors->host, NOTHING, text("no such user"), NOTHING);
        return NEVOD_DENIED;
    }
    MODE("huge-token") {
        uint8_t *large = calloc(1, 10u << 20);
        give(to, (nevod_bytes){large, 10u << 20});
        free(large);
        return NEVOD_OK;
    }
    MODE("huge-state") {
        uint8_t *large = calloc(1, 10u << 20);
        to->set_state(to->host, (nevod_bytes){large, 10u << 20});
        free(large);
        return give(to, text("T")), NEVOD_OK;
    }
    MODE("fallback") {
        // A passkey, then a browser, then a device code.
        if (event->kind != NEVOD_EVENT_START) return give(to, text("device")), NEVOD_OK;
        note(f, "ask", ask_passkey(to));
        note(f, "browse", to->browse(to->host, text(url)));
        note(f, "show", to->show(to->host, text("Enter ABCD"), text(url)));
        return NEVOD_OK;
    }
    MODE("unknown-question") return ask_passkey(to), ask(to), NEVOD_OK;
    if (!strncmp(mode, "unknown-question ", 17)) return ask_passkey(to), atoi(mode + 17);
    MODE("tries-forever") {
        int tries = 0;
        while (tries < 100000 && ask_passkey(to) == NEVOD_UNSUPPORTED) tries++;
        note(f, "tries", tries);
        return NEVOD_OK;
    }
    MODE("invalid") {
        note(f, "browse", to->browse(to->host, text("http://a\nb")));
        note(f, "show", to->show(to->host, text("too late"), NOTHING));
        return NEVOD_OK;
    }
    MODE("poll") {
        if (event->kind == NEVOD_EVENT_RESPONSE && event->response->status == 200) return give(to, event->response->body), NEVOD_OK;
        if (event->kind == NEVOD_EVENT_RESPONSE) return to->wait(to->host, 0), NEVOD_OK;
        return request(to, "POST", url, "/poll", NOTHING, 0), NEVOD_OK;
    }
    MODE("account") {
        char account[300] = "account ";
        copy(account + 8, sizeof account - 8, event->account);
        const char *path = f->kind == NEVOD_FLOW_LOGOUT ? "/logout" : f->kind == NEVOD_FLOW_LOGIN ? "/login" : "/refresh";
        if (event->kind == NEVOD_EVENT_START) return request(to, "POST", url, path, text(account), 0), NEVOD_OK;
        if (event->kind != NEVOD_EVENT_RESPONSE || event->response->status != 200) return NEVOD_BAD_TOKEN;
        return give(to, f->kind == NEVOD_FLOW_LOGOUT ? NOTHING : event->response->body), NEVOD_OK;
    }
    MODE("challenge-send") {
        // The challenge's header names the address to which to send.
        char address[256] = "";
        if (event->kind != NEVOD_EVENT_START) {
            char result[64];
            snprintf(result, sizeof result, "status %d", event->response ? (int)event->response->status : 0);
            return give(to, text(result)), NEVOD_OK;
        }
        for (uint32_t i = 0; event->response && i < event->response->header_count; i++)
            if (event->response->headers[i].name.count == 4) copy(address, sizeof address, event->response->headers[i].value);
        return request(to, "POST", address, "", text("proof"), 1), NEVOD_OK;
    }
    MODE("challenge-browse") {
        if (event->kind == NEVOD_EVENT_START)
            return to->listen(to->host, &(nevod_listen){.struct_size = sizeof(nevod_listen), .path = text("/back")}), NEVOD_OK;
        return to->browse(to->host, event->kind == NEVOD_EVENT_LISTENING ? text("http://challenge.example/") : event->url), NEVOD_OK;
    }
    if (!strncmp(mode, "listen ", 7)) return listen_as_told(f, event, to, errors);
    MODE("keep") {
        if (event->kind == NEVOD_EVENT_START) {
            nevod_token token = {.struct_size = sizeof token, .bytes = text("kept")};
            return to->keep(to->host, &token), NEVOD_OK;
        }
        return request(to, "POST", url, "/refresh", text("after keep"), 0), NEVOD_OK;
    }
    MODE("password") {
        if (event->kind == NEVOD_EVENT_START) return ask(to), NEVOD_OK;
        return give(to, event->answers[0].value), NEVOD_OK;
    }
    MODE("listen") {
        switch (event->kind) {
        case NEVOD_EVENT_START: return to->listen(to->host, &(nevod_listen){.struct_size = sizeof(nevod_listen), .path = text("/back")}), NEVOD_OK;
        case NEVOD_EVENT_LISTENING: {
            char address[512];
            strcpy(address, url);
            strcat(address, "/authorize?redirect_uri=");
            strncat(address, (const char *)event->url.data, (size_t)event->url.count);
            return to->browse(to->host, text(address)), NEVOD_OK;
        }
        default: return give(to, event->url), NEVOD_OK;
        }
    }
    MODE("issuer") {
        if (f->steps == 1) return request(to, "GET", url, "/.well-known/openid-configuration", NOTHING, 0), NEVOD_OK;
        if (f->steps == 2) {
            // The body is the address of the token endpoint, after "token_endpoint":".
            char body[1024], *start, *stop;
            copy(body, sizeof body, event->response->body);
            start = strstr(body, "\"token_endpoint\":\"");
            if (!start || !(stop = strchr(start + 18, '"'))) return NEVOD_UNAVAILABLE;
            *stop = 0;
            return request(to, "POST", start + 18, "", text("code"), 0), NEVOD_OK;
        }
        return give(to, event->response->body), NEVOD_OK;
    }
    // A login's token is the time of its response, a challenge's token is the time of its start, and a refresh's is the old token's
    // remaining time.
    MODE("nonce-challenge-time") {
        const int64_t now = event->unix_time_ns;
        if (f->kind == NEVOD_FLOW_LOGIN && event->kind == NEVOD_EVENT_START)
            return request(to, "POST", url, "/login", NOTHING, 0), NEVOD_OK;
        if (f->kind == NEVOD_FLOW_REFRESH) return give_number(to, event->token->expires_at_unix_ns - now, now), NEVOD_OK;
        return give_number(to, now, now), NEVOD_OK;
    }
    MODE("fresh") return give(to, text("challenged")), NEVOD_OK;
    MODE("empty-token") return give(to, NOTHING), NEVOD_OK;
    MODE("token") return give(to, text("T")), NEVOD_OK;
    return exchange(f, event, to,
        f->kind == NEVOD_FLOW_LOGIN ? "/login" : f->kind == NEVOD_FLOW_REFRESH ? "/refresh"
        : f->kind == NEVOD_FLOW_CHALLENGE ? "/challenge" : "/logout");
}

static const nevod_scheme SCHEME = {
    .struct_size = sizeof SCHEME, .id = NEVOD_BYTES("flow"), .title = NEVOD_BYTES("Flows for tests"), .settings = SETTINGS,
    .setting_count = 3, .create = create, .destroy = destroy, .needs = needs, .token_decode = token_decode,
    .token_free = token_free, .authorize = authorize, .on_response = on_response, .flow_begin = begin, .flow_step = step,
    .flow_free = end};
static const nevod_scheme *const SCHEMES[] = {&SCHEME};
static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1, .schemes = SCHEMES,
    .name = NEVOD_BYTES("flow"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("tests")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void) { return &PLUGIN; }
