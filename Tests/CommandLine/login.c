/*
 * A scheme whose setting "mode" says how it logs in. Its token is a text, which `authorize` writes as X-Token. A cancelled flow
 * logs that it was cancelled.
 */
#define _DEFAULT_SOURCE
#include "nevod_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))

typedef struct {
    const nevod_host *host;
    char mode[32], url[256];
} instance;

typedef struct {
    int32_t kind;
    int steps;
    char token[512];
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
    for (uint32_t i = 0; i < value_count; i++) {
        if (values[i].name.count == 4)
            copy(in->mode, sizeof in->mode, values[i].value);
        else if (values[i].name.count == 3)
            copy(in->url, sizeof in->url, values[i].value);
    }
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
    if (token)
        edits->set_header(edits->host, TEXT("X-Token"), text(token));
    return NEVOD_OK;
}

static int32_t begin(void *in, int32_t kind, void **out, const nevod_errors *errors)
{
    (void)in, (void)errors;
    if (kind != NEVOD_FLOW_LOGIN)
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

static void say(void *in, const char *what)
{
    const nevod_host *host = ((instance *)in)->host;
    host->log(host->host, NEVOD_LOG_DEBUG, text(what));
}

static int32_t give(const nevod_actions *to, const char *text_of_token)
{
    nevod_token token = {.struct_size = sizeof token, .bytes = text(text_of_token)};
    return to->token(to->host, &token);
}

static int32_t send(const nevod_actions *to, const char *url, const char *path, const char *body)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", url, path);
    nevod_flow_request request = {
        .struct_size = sizeof request, .method = TEXT("POST"), .url = text(whole), .body = text(body)};
    return to->send(to->host, &request);
}

static const nevod_bytes CHOICES[] = {NEVOD_BYTES("sms"), NEVOD_BYTES("app"), NEVOD_BYTES("7")};
static const nevod_question USER = {
    .struct_size = sizeof USER, .kind = NEVOD_QUESTION_TEXT, .name = NEVOD_BYTES("user"), .prompt = NEVOD_BYTES("User")};
static const nevod_question PASSWORD = {
    .struct_size = sizeof PASSWORD, .kind = NEVOD_QUESTION_SECRET, .name = NEVOD_BYTES("password"),
    .prompt = NEVOD_BYTES("Password")};
static const nevod_question CODE = {
    .struct_size = sizeof CODE, .kind = NEVOD_QUESTION_CODE, .name = NEVOD_BYTES("code"), .prompt = NEVOD_BYTES("Code")};
static const nevod_question METHOD = {
    .struct_size = sizeof METHOD, .kind = NEVOD_QUESTION_CHOICE, .choice_count = 3, .name = NEVOD_BYTES("method"),
    .prompt = NEVOD_BYTES("How to get a code"), .choices = CHOICES};
/* Would clear a terminal: U+009B begins a control sequence. */
static const nevod_question HOSTILE = {
    .struct_size = sizeof HOSTILE, .kind = NEVOD_QUESTION_TEXT, .name = NEVOD_BYTES("x;$(id)'"),
    .prompt = NEVOD_BYTES("a\xc2\x9b" "2Jb")};

static int32_t answers(flow *f, const nevod_event *event, const nevod_actions *to)
{
    for (uint32_t i = 0; i < event->answer_count; i++) {
        char value[128];
        copy(value, sizeof value, event->answers[i].value);
        strcat(f->token, f->token[0] ? "," : "");
        strcat(f->token, value);
    }
    return give(to, f->token);
}

static int32_t step(void *in, void *made, const nevod_event *event, const nevod_actions *to, const nevod_errors *errors)
{
    static const nevod_question *const ALL[] = {&USER, &PASSWORD, &METHOD, &CODE};
    static const nevod_question *const ONE_SECRET[] = {&PASSWORD};
    static const nevod_question *const ONE_CODE[] = {&CODE};
    static const nevod_question *const ONE_CHOICE[] = {&METHOD};
    static const nevod_question *const ONE_HOSTILE[] = {&HOSTILE};
    flow *f = made;
    const char *url = ((instance *)in)->url;
    f->steps++;
    if (event->kind == NEVOD_EVENT_CANCELLED) {
        say(in, "the flow was cancelled");
        return NEVOD_UNAVAILABLE;
    }
#define MODE(name) if (!strcmp(((instance *)in)->mode, name))
#define AT_START if (event->kind == NEVOD_EVENT_START)
    MODE("all") {
        AT_START return to->ask(to->host, ALL, 4);
        return answers(f, event, to);
    }
    MODE("secret") {
        AT_START return to->ask(to->host, ONE_SECRET, 1);
        return answers(f, event, to);
    }
    MODE("choice") {
        AT_START return to->ask(to->host, ONE_CHOICE, 1);
        return answers(f, event, to);
    }
    MODE("hostile") {
        AT_START return to->ask(to->host, ONE_HOSTILE, 1);
        return answers(f, event, to);
    }
    /* Asked again until the server accepts it. */
    MODE("code") {
        char code[64];
        if (event->kind == NEVOD_EVENT_ANSWERS) {
            copy(code, sizeof code, event->answers[0].value);
            return send(to, url, "/code?secret=tok-123", code);
        }
        if (event->kind == NEVOD_EVENT_RESPONSE && event->response->status == 200)
            return give(to, "coded");
        if (event->kind == NEVOD_EVENT_TRANSPORT_ERROR)
            return NEVOD_UNAVAILABLE;
        return to->ask(to->host, ONE_CODE, 1);
    }
    MODE("show") {
        AT_START return to->show(to->host, TEXT("Enter \xc2\x9b" "ABCD"), TEXT("http://127.0.0.1/device"));
        return give(to, "shown");
    }
    MODE("browse") {
        char address[512];
        AT_START return to->listen(to->host, &(nevod_listen){.struct_size = sizeof(nevod_listen), .path = TEXT("/back")});
        if (event->kind == NEVOD_EVENT_LISTENING) {
            snprintf(address, sizeof address, "%s/authorize?to=%.*s", url, (int)event->url.count, (const char *)event->url.data);
            return to->browse(to->host, text(address));
        }
        copy(f->token, sizeof f->token, event->url);
        return give(to, strchr(f->token, '?') ? strchr(f->token, '?') + 1 : "nothing");
    }
    /* A passkey, then a browser, then a device code. */
    MODE("fallback") {
        static const nevod_question PASSKEY = {
            .struct_size = sizeof PASSKEY, .kind = 99, .name = NEVOD_BYTES("passkey"), .prompt = NEVOD_BYTES("Passkey")};
        static const nevod_question *const ONE_PASSKEY[] = {&PASSKEY};
        char tried[64], address[512];
        AT_START return to->listen(to->host, &(nevod_listen){.struct_size = sizeof(nevod_listen), .path = TEXT("/back")});
        if (event->kind == NEVOD_EVENT_LISTENING) {
            int32_t asked = to->ask(to->host, ONE_PASSKEY, 1);
            snprintf(address, sizeof address, "%s/authorize?to=%.*s", url, (int)event->url.count, (const char *)event->url.data);
            int32_t browsed = to->browse(to->host, text(address));
            snprintf(tried, sizeof tried, "ask %d, browse %d", (int)asked, (int)browsed);
            say(in, tried);
            if (browsed == NEVOD_OK)
                return NEVOD_OK;
            return to->show(to->host, TEXT("Enter ABCD"), TEXT("http://127.0.0.1/device"));
        }
        return give(to, event->kind == NEVOD_EVENT_SHOWN ? "device" : "browser");
    }
    /* A password, then a browser; nothing else. */
    MODE("person") {
        AT_START return to->listen(to->host, &(nevod_listen){.struct_size = sizeof(nevod_listen), .path = TEXT("/back")});
        if (to->ask(to->host, ONE_SECRET, 1) == NEVOD_OK)
            return NEVOD_OK;
        to->browse(to->host, text(url));
        return NEVOD_OK;
    }
    MODE("account") {
        AT_START copy(f->token, sizeof f->token, event->account);
        return give(to, f->token[0] ? f->token : "none");
    }
    MODE("form") {
        char address[512];
        AT_START return to->listen(to->host, &(nevod_listen){
            .struct_size = sizeof(nevod_listen), .flags = NEVOD_LISTEN_FORM_POST, .path = TEXT("/back"), .host = TEXT("localhost")});
        if (event->kind == NEVOD_EVENT_LISTENING) {
            snprintf(address, sizeof address, "%s/authorize?to=%.*s", url, (int)event->url.count, (const char *)event->url.data);
            return to->browse(to->host, text(address));
        }
        copy(f->token, sizeof f->token, event->body);
        return give(to, f->token);
    }
    MODE("works") {
        AT_START {
            say(in, "the flow works");
            /* Long enough for a signal to arrive during the step. */
            nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        }
        return to->wait(to->host, 3600u * 100000000ull);
    }
    MODE("waits") {
        say(in, "the flow waits");
        return to->wait(to->host, 3600u * 100000000ull);
    }
    MODE("sends") return send(to, url, "/slow?ms=60000", "x");
    MODE("foreign") return send(to, "http://other.invalid", "/", "x");
    MODE("metadata") {
        AT_START {
            nevod_flow_request request = {.struct_size = sizeof request, .method = TEXT("GET")};
            char whole[512];
            snprintf(whole, sizeof whole, "%s/.well-known/openid-configuration", url);
            request.url = text(whole);
            return to->send(to->host, &request);
        }
        if (event->kind == NEVOD_EVENT_RESPONSE && f->steps == 2) {
            char body[1024];
            copy(body, sizeof body, event->response->body);
            char *start = strstr(body, "\"token_endpoint\": \""), *stop = start ? strchr(start + 19, '"') : NULL;
            if (!stop)
                return NEVOD_UNAVAILABLE;
            *stop = 0;
            return send(to, start + 19, "", "x");
        }
        return event->kind == NEVOD_EVENT_RESPONSE ? give(to, "issued") : NEVOD_UNAVAILABLE;
    }
    MODE("denied") {
        errors->report(errors->host, TEXT(""), TEXT("no such user"), TEXT("the detail"));
        return NEVOD_DENIED;
    }
    MODE("unavailable") return NEVOD_UNAVAILABLE;
    MODE("no-action") return NEVOD_OK;
    return give(to, "token");
}

static const nevod_setting MODE_SETTING = {
    .struct_size = sizeof MODE_SETTING, .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("mode"),
    .default_value = NEVOD_BYTES("token")};
static const nevod_setting URL_SETTING = {
    .struct_size = sizeof URL_SETTING, .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_ISSUER, .name = NEVOD_BYTES("url")};
static const nevod_setting *const SETTINGS[] = {&MODE_SETTING, &URL_SETTING};

static const nevod_scheme SCHEME = {
    .struct_size = sizeof SCHEME, .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("login"),
    .title = NEVOD_BYTES("A login for tests"), .settings = SETTINGS, .setting_count = 2, .create = create, .destroy = destroy,
    .token_decode = token_decode, .token_free = token_free, .authorize = authorize,
    .flow_begin = begin, .flow_step = step, .flow_free = end};
static const nevod_scheme *const SCHEMES[] = {&SCHEME};

static const nevod_plugin PLUGIN = {
    .struct_size = sizeof PLUGIN, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1,
    .schemes = SCHEMES, .name = NEVOD_BYTES("Login"), .version = NEVOD_BYTES("1.0")};

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
    return &PLUGIN;
}
