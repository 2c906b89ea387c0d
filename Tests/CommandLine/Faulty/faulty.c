/*
 * A plugin with the fault that FAULT names, a string, or without a fault. test_faulty_plugins.py has the table of all faults, and
 * the check that finds each.
 *
 * Its one scheme signs requests (not securely: the sum is FNV-1a), logs in with a password, renews and revokes, keeps a nonce of
 * the server, and wraps the body of a stream.
 */
#define _GNU_SOURCE
#include "nevod_plugin.h"

#include <alloca.h>
#include <fcntl.h>
#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef FAULT
#define FAULT "none"
#endif
#define FAULTY(name) (strcmp(FAULT, name) == 0)
#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CRASH() (*(volatile int *)16 = 1)

#ifdef EXTRA_SYMBOL
NEVOD_EXPORT int faulty_extra_symbol(void);
int faulty_extra_symbol(void) { return 1; }
#endif

#ifdef THREAD_LOCAL
static __thread char large_block[THREAD_LOCAL];
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* Texts.                                                                                                            */

static int is(nevod_bytes a, nevod_bytes b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, (size_t)a.count) == 0);
}

static nevod_bytes of(const char *s)
{
    return (nevod_bytes){(const uint8_t *)s, strlen(s)};
}

static char *copied(nevod_bytes bytes)
{
    char *made = calloc(1, (size_t)bytes.count + 1);
    if (made != NULL && bytes.count > 0)
        memcpy(made, bytes.data, (size_t)bytes.count);
    return made;
}

static nevod_bytes find(const nevod_pair *pairs, uint32_t count, nevod_bytes name)
{
    for (uint32_t i = 0; i < count; i++)
        if (is(pairs[i].name, name))
            return pairs[i].value;
    return (nevod_bytes){NULL, 0};
}

static int has(const nevod_pair *pairs, uint32_t count, nevod_bytes name)
{
    int found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += is(pairs[i].name, name);
    return found;
}

/* As long as a device or a server takes. Only in the first calls, so that the other checks finish soon. */
static void block(void)
{
    static volatile int calls;
    if (__sync_fetch_and_add(&calls, 1) < 40)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static uint8_t kept_byte;
static void *volatile lost;

static uint64_t add(uint64_t sum, nevod_bytes bytes)
{
    for (uint64_t i = 0; i < bytes.count; i++)
        sum = (sum ^ bytes.data[i]) * 0x100000001b3u;
    return (sum ^ 0xff) * 0x100000001b3u;
}

static uint64_t add_number(uint64_t sum, uint64_t number)
{
    return add(sum, (nevod_bytes){(const uint8_t *)&number, sizeof number});
}

static int32_t fail(const nevod_errors *errors, int32_t status, const char *subject, const char *message)
{
    errors->report(errors->host, of(subject), of(message), TEXT(""));
    return status;
}

static void base64(const char *from, char to[512])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = strlen(from) < 380 ? strlen(from) : 380;
    for (size_t i = 0; i < count; i += 3) {
        uint32_t three = 0;
        for (size_t j = 0; j < 3; j++)
            three = three << 8 | (i + j < count ? (uint8_t)from[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            *to++ = i + j > count ? '=' : digits[three >> (18 - 6 * j) & 63];
    }
    *to = 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The instance.                                                                                                     */

typedef struct {
    const nevod_host *host;
    char *key_id, *secret, *url;
    const uint8_t *borrowed;
    nevod_needs needs;
    int flows, decoded, authorized, left;
    pid_t owner;
} instance;

static int created;
static instance *last_instance;

static void destroy(void *pointer)
{
    instance *self = pointer;
    if (FAULTY("destroy-crashes-in-mid-flow") && self->left)
        CRASH();
    if (FAULTY("destroy-insists-on-thread") && self->owner != gettid())
        CRASH();
    if (FAULTY("destroy-waits"))
        block();
    if (self->secret != NULL)
        explicit_bzero(self->secret, strlen(self->secret));
    free(self->key_id);
    free(self->secret);
    if (!FAULTY("create-leaks"))
        free(self->url);
    if (FAULTY("destroy-crashes"))
        CRASH();
    if (FAULTY("shared-instance") && last_instance != self)
        return;
    free(self);
}

static void *idle(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
    pthread_detach(thread);
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **out, const nevod_errors *errors)
{
    (void)scheme;
    nevod_bytes key_id = find(values, value_count, TEXT("key-id"));
    nevod_bytes secret = find(values, value_count, TEXT("secret"));
    nevod_bytes url = find(values, value_count, TEXT("url"));
    if (FAULTY("create-crashes"))
        CRASH();
    if (FAULTY("create-crashes-without-url") && value_count > 0 && !has(values, value_count, TEXT("url")))
        CRASH();
    if (FAULTY("create-crashes-on-empty-url") && has(values, value_count, TEXT("url")) && url.count == 0)
        CRASH();
    if (FAULTY("create-crashes-on-unknown") && has(values, value_count, TEXT("no-such-setting")))
        CRASH();
    if (FAULTY("create-crashes-on-repeated") && has(values, value_count, TEXT("key-id")) > 1)
        CRASH();
    if (FAULTY("create-crashes-on-bad-utf8") && secret.count > 0 && secret.data[0] == 0xff)
        CRASH();
    if (FAULTY("create-crashes-on-nul") && secret.count > 0 && memchr(secret.data, 0, (size_t)secret.count) != NULL)
        CRASH();
    if (FAULTY("create-insists-on-extension") && host->get_extension(host->host, TEXT("nevod.public-suffix/1")) == NULL)
        CRASH();
    if (FAULTY("create-refused-leaks") && key_id.count == 0)
        lost = malloc(300);
    if (FAULTY("create-is-slow") && created == 1)
        nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
    if (FAULTY("create-ignores-signal"))
        signal(SIGUSR2, SIG_IGN);
    if (FAULTY("create-sets-environment"))
        setenv("FAULTY", "1", 1);
    if (FAULTY("create-shared")) {
        static volatile int inside;
        int others = __sync_fetch_and_add(&inside, 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        __sync_fetch_and_sub(&inside, 1);
        if (others > 0)
            return fail(errors, NEVOD_BAD_SETTINGS, "key-id", "is in use");
    }
    if (FAULTY("fuzz-settings") && secret.count % 9 == 4)
        CRASH();
    if (FAULTY("create-hangs"))
        for (;;)
            pause();
    if (FAULTY("create-crashes-on-empty") && key_id.count == 0)
        CRASH();
    if (FAULTY("create-crashes-on-long") && key_id.count > 60000)
        CRASH();
    if (key_id.count == 0)
        return FAULTY("create-silent") ? NEVOD_BAD_SETTINGS : fail(errors, NEVOD_BAD_SETTINGS, "key-id", "must not be empty");
    for (uint64_t i = 0; i < key_id.count; i++) {
        if (FAULTY("create-crashes-on-unicode") && key_id.data[i] == 0xf0)
            CRASH();
        if (key_id.data[i] < 0x20 || key_id.data[i] > 0x7e || key_id.data[i] == '"')
            return fail(errors, NEVOD_BAD_SETTINGS, "key-id", "must be printable ASCII without quotes");
    }
    if (key_id.count > 4096)
        return fail(errors, NEVOD_BAD_SETTINGS, "key-id", "must have at most 4096 bytes");
    if (secret.count == 0)
        return fail(errors, NEVOD_BAD_SETTINGS, "secret", "must not be empty");
    if (FAULTY("unknown-status-of-create") && secret.count > 4096)
        return 42;
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NEVOD_INTERNAL;
    self->host = host;
    self->key_id = copied(key_id);
    self->secret = copied(secret);
    self->url = copied(url);
    if (self->key_id == NULL || self->secret == NULL || self->url == NULL) {
        destroy(self);
        return NEVOD_INTERNAL;
    }
    self->borrowed = secret.data;
    self->owner = gettid();
    /* Not in a process's first instance, which the shorter checks use. */
    if (FAULTY("create-sometimes-leaves-thread") && created % 2 == 0 && created > 1 && created < 240)
        start_thread();
    if (FAULTY("create-sometimes-leaks-descriptor") && created % 3 == 2)
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (FAULTY("create-leaves-thread"))
        start_thread();
    if (FAULTY("create-leaks-descriptor"))
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (FAULTY("create-leaves-mapping"))
        mmap(NULL, 4096, created % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (FAULTY("create-changes-folder"))
        (void)!chdir("/");
    if (FAULTY("logs-secret")) {
        char line[256];
        snprintf(line, sizeof line, "the secret is %s", self->secret);
        host->log(host->host, NEVOD_LOG_DEBUG, of(line));
    }
    if (FAULTY("logs-secret-as-base64")) {
        char line[512];
        base64(self->secret, line);
        host->log(host->host, NEVOD_LOG_INFO, of(line));
    }
    if (FAULTY("logs-secret-as-hex")) {
        char line[512] = "";
        for (size_t i = 0; i < strlen(self->secret) && 2 * i + 3 < sizeof line; i++)
            snprintf(line + 2 * i, 3, "%02X", (uint8_t)self->secret[i]);
        host->log(host->host, NEVOD_LOG_WARNING, of(line));
    }
    if (FAULTY("shared-instance") && last_instance != NULL) {
        *out = last_instance;
        return NEVOD_OK;
    }
    last_instance = self;
    created++;
    *out = self;
    return NEVOD_OK;
}

static const nevod_needs *needs(void *pointer)
{
    static const nevod_bytes digests[] = {NEVOD_BYTES("sha-256")};
    static const nevod_bytes unknown[] = {NEVOD_BYTES("rot-13")};
    static const int32_t statuses[] = {200};
    static const nevod_bytes ranges[] = {NEVOD_BYTES("text/*")};
    instance *self = pointer;
    self->needs = (nevod_needs){
        .struct_size = sizeof self->needs, .digests = digests, .digest_count = 1,
        .flags = NEVOD_NEED_HEADERS | NEVOD_NEED_CHALLENGES | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE |
                 NEVOD_NEED_REPLACE_BODY | NEVOD_NEED_CHALLENGE_BODY};
    if (FAULTY("random-not-declared"))
        self->needs.flags &= ~NEVOD_NEED_RANDOM;
    if (FAULTY("headers-not-declared"))
        self->needs.flags &= ~NEVOD_NEED_HEADERS;
    if (FAULTY("needs-unknown-digest"))
        self->needs.digests = unknown;
    if (FAULTY("needs-unknown-flag"))
        self->needs.flags |= 1u << 15;
    if (FAULTY("needs-type-range"))
        self->needs.challenge_types = ranges, self->needs.challenge_type_count = 1;
    if (FAULTY("needs-status-200")) {
        self->needs.challenge_statuses = statuses;
        self->needs.challenge_status_count = 1;
    }
    if (FAULTY("needs-short"))
        self->needs.struct_size = 8;
    if (FAULTY("needs-change") && self->authorized)
        self->needs.flags &= ~NEVOD_NEED_CHALLENGE_BODY;
    if (FAULTY("needs-crashes"))
        CRASH();
    return &self->needs;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Tokens: "T1", four hex digits of the text's length, sixteen of its sum, the text.                                 */

typedef struct {
    char *text;
    const uint8_t *borrowed;
    int number;
} live_token;

static char *issue(const char *content)
{
    size_t size = strlen(content) + 32;
    char *made = malloc(size);
    if (made != NULL)
        snprintf(made, size, "T1%04zx%016" PRIx64 "%s", strlen(content) & 0xffff, add(7, of(content)), content);
    return made;
}

static int32_t refuse(const nevod_errors *errors, nevod_bytes bytes, const char *why)
{
    if (FAULTY("refusal-leaks"))
        lost = malloc(500);
    if (FAULTY("refusal-silent"))
        return NEVOD_BAD_TOKEN;
    if (FAULTY("refusal-denied"))
        return fail(errors, NEVOD_DENIED, "", why);
    if (FAULTY("refusal-shows-token")) {
        char shown[256];
        snprintf(shown, sizeof shown, "not a token: %.*s", (int)(bytes.count < 200 ? bytes.count : 200), (const char *)bytes.data);
        return fail(errors, NEVOD_BAD_TOKEN, "", shown);
    }
    return fail(errors, NEVOD_BAD_TOKEN, "", why);
}

static int32_t token_decode(void *pointer, nevod_bytes bytes, void **out, const nevod_errors *errors)
{
    instance *self = pointer;
    const char *data = (const char *)bytes.data;
    if (FAULTY("decode-blocks"))
        block();
    if (FAULTY("decode-shared")) {
        static volatile int inside;
        int others = __sync_fetch_and_add(&inside, 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        __sync_fetch_and_sub(&inside, 1);
        if (others > 0)
            return refuse(errors, bytes, "a token is being decoded already");
    }
    if (FAULTY("decode-overreads") && bytes.count > 0)
        kept_byte = ((const volatile uint8_t *)bytes.data)[bytes.count];
    if (FAULTY("fuzz-token") && bytes.count > 30 && bytes.count % 11 == 3)
        CRASH();
    if (bytes.count == 0) {
        if (FAULTY("decode-crashes-on-empty"))
            CRASH();
        return refuse(errors, bytes, "the token is empty");
    }
    if (bytes.count > NEVOD_LIMIT_TOKEN) {
        if (FAULTY("decode-crashes-on-huge"))
            CRASH();
        return refuse(errors, bytes, "the token is too long");
    }
    if (FAULTY("decode-crashes-on-random") && bytes.count > 32 && data[0] != 'T' && data[1] != '1')
        CRASH();
    if (bytes.count >= 2 && (data[0] != 'T' || data[1] != '1'))
        return refuse(errors, bytes, "the token is of another version");
    char length[5] = "", sum[17] = "";
    if (bytes.count >= 22) {
        memcpy(length, data + 2, 4);
        memcpy(sum, data + 6, 16);
    }
    if (bytes.count < 22 || bytes.count - 22 != strtoull(length, NULL, 16)) {
        if (FAULTY("decode-crashes-on-truncated") && bytes.count < 22)
            CRASH();
        return refuse(errors, bytes, "the token is incomplete");
    }
    if (strtoull(sum, NULL, 16) != add(7, (nevod_bytes){bytes.data + 22, bytes.count - 22})) {
        if (FAULTY("decode-crashes-on-flipped"))
            CRASH();
        return refuse(errors, bytes, "the token is damaged");
    }
    if (FAULTY("decode-hangs"))
        for (;;)
            pause();
    if (FAULTY("issued-token-refused"))
        return fail(errors, NEVOD_BAD_TOKEN, "", "the token is from another machine");
    live_token *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NEVOD_INTERNAL;
    made->text = copied((nevod_bytes){bytes.data + 22, bytes.count - 22});
    made->borrowed = bytes.data;
    made->number = self->decoded++;
    *out = made;
    return NEVOD_OK;
}

static void token_free(void *pointer, void *token)
{
    (void)pointer;
    live_token *live = token;
    if (FAULTY("token-free-crashes"))
        CRASH();
    if (FAULTY("token-leaks"))
        return;
    explicit_bzero(live->text, strlen(live->text));
    free(live->text);
    free(live);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* authorize.                                                                                                        */

typedef struct {
    uint64_t length, seen;
    int started;
} wrapping;

static volatile int calls;
static const uint8_t *kept_method;
static const nevod_edits *kept_edits;
static pthread_mutex_t stuck = PTHREAD_MUTEX_INITIALIZER;

static const char *scheme_kind(const nevod_view *view)
{
    return view->target_kind == NEVOD_TARGET_PROXY ? "Proxy-Authorization" : "Authorization";
}

static int has_non_ascii(nevod_bytes bytes)
{
    for (uint64_t i = 0; i < bytes.count; i++)
        if (bytes.data[i] >= 0x80)
            return 1;
    return 0;
}

static void use_stack(void)
{
    volatile char *block = alloca(640 << 10);
    for (size_t i = 0; i < 640 << 10; i += 1024)
        block[i] = 1;
}

/* Faults that read the view in ways that no host allows. */
static void misread(const nevod_view *view)
{
    if (FAULTY("crashes-on-no-path") && (view->target.count == 0 || view->target.data[0] != '/') && view->target_kind == 0 &&
        !is(view->target, TEXT("*")) && !is(view->method, TEXT("CONNECT")))
        CRASH();
    if (FAULTY("crashes-on-long-target") && view->target.count > 4000)
        CRASH();
    if (FAULTY("crashes-on-ipv6") && view->authority.count > 0 && view->authority.data[0] == '[')
        CRASH();
    for (uint32_t i = 0; i < view->header_count; i++) {
        if (FAULTY("crashes-on-empty-header") && view->headers[i].value.count == 0)
            CRASH();
        if (FAULTY("crashes-on-non-ascii") && has_non_ascii(view->headers[i].value))
            CRASH();
        for (uint32_t j = 0; j < i; j++)
            if (FAULTY("crashes-on-repeated-header") && is(view->headers[i].name, view->headers[j].name))
                CRASH();
    }
    if (FAULTY("crashes-on-many-headers") && view->header_count > 100)
        CRASH();
    if (FAULTY("crashes-on-odd-method") && view->method.count > 20)
        CRASH();
    if (FAULTY("hangs-on-connect") && is(view->method, TEXT("CONNECT")) && view->target_kind == NEVOD_TARGET_ORIGIN)
        for (;;)
            pause();
    if (FAULTY("crashes-on-huge-body") && view->body_kind == NEVOD_BODY_BYTES && view->body_length > 1 << 20)
        CRASH();
    if (FAULTY("crashes-on-missing-digest") && view->body_kind == NEVOD_BODY_STREAM && view->digest_count == 0)
        CRASH();
    if (FAULTY("fuzz-authorize") && view->target.count % 17 == 5 && view->method.count % 3 == 1)
        CRASH();
    if (FAULTY("crashes-in-2040") && view->unix_time_ns > 2200000000000000000)
        CRASH();
    if (FAULTY("crashes-in-1970") && view->unix_time_ns < 1000000000)
        CRASH();
    if (FAULTY("crashes-on-long-state") && view->state.count > 600)
        CRASH();
    if (FAULTY("crashes-on-late-attempt") && view->attempt > 100)
        CRASH();
    if (FAULTY("crashes-on-parameter") && find(view->parameters, view->parameter_count, TEXT("scope")).count > 512)
        CRASH();
    if (FAULTY("writes-input"))
        ((uint8_t *)(uintptr_t)view->method.data)[0] = 'g';
    if (FAULTY("overreads") && view->target.count > 0)
        kept_byte = ((const volatile uint8_t *)view->target.data)[view->target.count];
    if (FAULTY("keeps-view")) {
        if (kept_method != NULL)
            kept_byte = *(const volatile uint8_t *)kept_method;
        kept_method = view->method.data;
    }
    if (FAULTY("reads-what-is-empty") && view->state.count == 0 && view->state.data != NULL)
        kept_byte = *(const volatile uint8_t *)view->state.data;
    if (FAULTY("uses-stack"))
        use_stack();
    if (FAULTY("blocks-without-flag"))
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    if (FAULTY("hangs"))
        for (;;)
            pause();
    if (FAULTY("exits"))
        exit(0);
    if (FAULTY("writes-to-output")) {
        puts("authorized");
        fflush(stdout);
    }
    if (FAULTY("deadlocks-with-itself")) {
        static volatile int inside;
        if (__sync_fetch_and_add(&inside, 1) > 0)
            pthread_mutex_lock(&stuck), pthread_mutex_lock(&stuck);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        __sync_fetch_and_sub(&inside, 1);
    }
}

static int32_t authorize(void *pointer, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    instance *self = pointer;
    const live_token *live = token;
    self->authorized = 1;
    if (FAULTY("crashes-without-token") && live == NULL)
        CRASH();
    if (FAULTY("refuses-grown-view") && view->struct_size != sizeof *view)
        return fail(errors, NEVOD_INTERNAL, "", "the request is of another version");
    misread(view);
    if (view->target_kind != NEVOD_TARGET_ORIGIN && view->target_kind != NEVOD_TARGET_PROXY && !FAULTY("signs-unknown-target")) {
        if (FAULTY("failure-silent"))
            return NEVOD_UNSUPPORTED;
        if (FAULTY("failure-of-unknown-status"))
            return fail(errors, 42, "", "signs requests to origins and proxies only");
        if (FAULTY("failure-reported-twice"))
            fail(errors, NEVOD_UNSUPPORTED, "", "the first reason");
        if (FAULTY("failure-shows-secret")) {
            char shown[256];
            snprintf(shown, sizeof shown, "can't sign this with %s", self->secret);
            return fail(errors, NEVOD_UNSUPPORTED, "", shown);
        }
        return fail(errors, NEVOD_UNSUPPORTED, "", "signs requests to origins and proxies only");
    }
    if ((uint32_t)view->body_kind > NEVOD_BODY_STREAM && !FAULTY("signs-unknown-body"))
        return fail(errors, NEVOD_UNSUPPORTED, "", "can't sign a body of this kind");
    if (live == NULL)
        return fail(errors, NEVOD_BAD_TOKEN, "", "there is no token yet; log in");
    if (view->target_kind == NEVOD_TARGET_ORIGIN && view->body_kind == NEVOD_BODY_STREAM && view->digest_count == 0)
        return fail(errors, NEVOD_UNSUPPORTED, "", "the stream has no digest to sign");
    uint64_t sum = add(add(5, of(self->secret)), of(live->text));
    sum = add(add(add(add(sum, view->method), view->scheme), view->authority), view->target);
    for (uint32_t i = 0; i < view->header_count; i++)
        sum = add(add(sum, view->headers[i].name), view->headers[i].value);
    sum = add(sum, find(view->digests, view->digest_count, TEXT("sha-256")));
    sum = add_number(sum, (uint64_t)view->unix_time_ns / 1000000000);
    sum = add(add(sum, view->random), view->state);
    sum = add(sum, find(view->parameters, view->parameter_count, TEXT("scope")));
    if (FAULTY("counts-calls"))
        sum = add_number(sum, (uint64_t)calls++);
    if (FAULTY("signs-with-address"))
        sum = add_number(sum, (uint64_t)(uintptr_t)self);
    if (FAULTY("reads-the-clock"))
        sum = add_number(sum, (uint64_t)time(NULL));
    if (FAULTY("signs-with-decode-number"))
        sum = add_number(sum, (uint64_t)live->number);
    if (FAULTY("decode-keeps-bytes"))
        kept_byte = *(const volatile uint8_t *)live->borrowed;
    if (FAULTY("create-keeps-values"))
        kept_byte = *(const volatile uint8_t *)self->borrowed;
    if (FAULTY("uses-shared-buffer")) {
        /* Several threads sign in one buffer. */
        static volatile uint64_t shared;
        shared = sum;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        sum = shared;
    }
    if (FAULTY("authorize-leaks"))
        lost = malloc(300);
    if (FAULTY("authorize-leaks-descriptor"))
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);

    char value[8192];
    snprintf(value, sizeof value, "Faulty id=\"%s\", sum=\"%016" PRIx64 "\"%s", self->key_id, sum,
             FAULTY("line-break-in-header") ? "\r\nX-Other: 1" : FAULTY("control-in-header") ? "\x01" : "");
    const char *name = FAULTY("origin-header-for-proxy") ? "Authorization" : scheme_kind(view);
    if (FAULTY("bad-header-name"))
        name = "X Authorization";
    if (FAULTY("uses-kept-edits") && kept_edits != NULL)
        kept_edits->add_header(kept_edits->host, TEXT("X-Late"), of(value));
    kept_edits = edits;
    int32_t wrote = edits->set_header(edits->host, of(name), of(value));
    if (FAULTY("crashes-when-an-edit-fails") && wrote != NEVOD_OK)
        CRASH();
    if (FAULTY("sets-host"))
        edits->set_header(edits->host, TEXT("Host"), TEXT("other.example"));
    if (FAULTY("huge-header")) {
        char *large = malloc(NEVOD_LIMIT_EDIT_VALUE + 2);
        memset(large, 'a', NEVOD_LIMIT_EDIT_VALUE + 1);
        edits->add_header(edits->host, TEXT("X-Large"), (nevod_bytes){(uint8_t *)large, NEVOD_LIMIT_EDIT_VALUE + 1});
        free(large);
    }
    if (FAULTY("replaces-body-twice") && view->target_kind == NEVOD_TARGET_ORIGIN && view->body_kind == NEVOD_BODY_BYTES)
        for (int i = 0; i < 2; i++)
            edits->replace_body(edits->host, TEXT("replaced"));
    if (FAULTY("odd-edit-for-a-form") && view->body_length == 12)
        edits->set_header(edits->host, TEXT("Content-Length"), TEXT("12"));
    if (view->target_kind == NEVOD_TARGET_ORIGIN && view->body_kind == NEVOD_BODY_STREAM &&
        view->body_length != NEVOD_LENGTH_UNKNOWN) {
        wrapping *made = calloc(1, sizeof *made);
        if (made == NULL)
            return NEVOD_INTERNAL;
        made->length = view->body_length;
        edits->wrap_body(edits->host, view->body_length + (FAULTY("wraps-too-little") ? 3 : 2), made);
    }
    return NEVOD_OK;
}

/* "<", the body, ">". */
static int32_t body_piece(void *pointer, void *opaque, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                          const nevod_errors *errors)
{
    (void)pointer, (void)errors;
    wrapping *self = opaque;
    int32_t status = NEVOD_OK;
    if (FAULTY("wrapping-crashes-on-empty-last") && is_last && piece.count == 0)
        CRASH();
    if (FAULTY("wrapping-crashes-on-one-byte") && piece.count == 1)
        CRASH();
    if (FAULTY("wrapping-depends-on-pieces") && !is_last)
        output->write(output->host, TEXT("|"));
    if (!self->started)
        status = output->write(output->host, TEXT("<"));
    self->started = 1;
    if (status == NEVOD_OK && piece.count > 0)
        status = output->write(output->host, piece);
    self->seen += piece.count;
    if (status == NEVOD_OK && is_last)
        status = output->write(output->host, TEXT(">"));
    if (FAULTY("wrapping-crashes-when-a-write-fails") && status != NEVOD_OK)
        CRASH();
    if (status != NEVOD_OK)
        return fail(errors, NEVOD_INTERNAL, "", "the body could not be written");
    return NEVOD_OK;
}

static void body_free(void *pointer, void *opaque)
{
    (void)pointer;
    wrapping *self = opaque;
    if (FAULTY("wrapping-crashes-unused") && !self->started)
        CRASH();
    if (!FAULTY("wrapping-leaks"))
        free(self);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* on_response.                                                                                                      */

static int32_t on_response(void *pointer, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors)
{
    (void)pointer, (void)token, (void)request, (void)errors;
    if (FAULTY("respond-keeps-response")) {
        static const uint8_t *kept;
        if (kept != NULL)
            kept_byte = *(const volatile uint8_t *)kept;
        kept = response->url.data;
    }
    if (FAULTY("respond-blocks"))
        block();
    if (FAULTY("respond-leaks"))
        lost = malloc(300);
    if (FAULTY("fuzz-response") && response->header_count % 5 == 3 && response->body.count % 7 == 2)
        CRASH();
    if (FAULTY("respond-unknown-verdict") && response->status == 403)
        return 42;
    if (FAULTY("respond-crashes-on-status") && (response->status > 599 || response->status < 200))
        CRASH();
    if (FAULTY("respond-crashes-on-many-headers") && response->header_count > 100)
        CRASH();
    if (FAULTY("respond-crashes-on-body") && response->body.count > 4096)
        CRASH();
    if (response->target_kind != NEVOD_TARGET_ORIGIN && response->target_kind != NEVOD_TARGET_PROXY)
        return FAULTY("respond-takes-unknown-target") ? NEVOD_VERDICT_RETRY_ONCE : NEVOD_VERDICT_NOTHING;
    if (FAULTY("respond-sends")) {
        nevod_flow_request send = {.struct_size = sizeof send, .method = TEXT("GET"), .url = TEXT("http://127.0.0.1/")};
        actions->send(actions->host, &send);
    }
    if (FAULTY("respond-keeps-empty-token")) {
        nevod_token none = {.struct_size = sizeof none};
        actions->keep(actions->host, &none);
    }
    int proxy = response->target_kind == NEVOD_TARGET_PROXY;
    if (response->status != (proxy ? 407 : 401))
        return NEVOD_VERDICT_NOTHING;
    nevod_bytes name = proxy ? TEXT("Proxy-Authenticate") : TEXT("WWW-Authenticate");
    for (uint32_t i = 0; i < response->header_count; i++) {
        const nevod_pair *line = &response->headers[i];
        if (!is(line->name, name))
            continue;
        if (FAULTY("respond-crashes-on-odd-challenge") && line->value.count > 0 && line->value.data[0] == ',')
            CRASH();
        if (FAULTY("respond-overreads") && line->value.count > 0)
            kept_byte = ((const volatile uint8_t *)line->value.data)[line->value.count];
        for (uint64_t j = 0; j + 7 < line->value.count; j++) {
            if (memcmp(line->value.data + j, "nonce=\"", 7) != 0)
                continue;
            uint64_t first = j + 7, last = first;
            while (last < line->value.count && line->value.data[last] != '"')
                last++;
            if (last - first > 1024)
                continue;
            int32_t kept = actions->set_state(actions->host, (nevod_bytes){line->value.data + first, last - first});
            if (FAULTY("respond-crashes-when-a-state-fails") && kept != NEVOD_OK)
                CRASH();
            return NEVOD_VERDICT_RETRY_ONCE;
        }
    }
    return NEVOD_VERDICT_NOTHING;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Flows.                                                                                                            */

typedef struct {
    int32_t kind;
    int awaits; /* the kind of event that the next step expects */
    int sent, started, failed;
    char *token;
    const uint8_t *borrowed;
    pid_t thread;
} flow;

static const nevod_actions *kept_actions;

static int32_t flow_begin(void *pointer, int32_t kind, void **out, const nevod_errors *errors)
{
    instance *self = pointer;
    if (kind != NEVOD_FLOW_LOGIN && kind != NEVOD_FLOW_REFRESH && kind != NEVOD_FLOW_LOGOUT &&
        !(FAULTY("flow-of-unknown-kind") && kind > NEVOD_FLOW_LOGOUT))
        return fail(errors, NEVOD_UNSUPPORTED, "", "there is no flow of this kind");
    flow *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NEVOD_INTERNAL;
    made->kind = kind;
    made->awaits = NEVOD_EVENT_START;
    self->flows++;
    *out = made;
    return NEVOD_OK;
}

static void flow_free(void *pointer, void *opaque)
{
    instance *self = pointer;
    flow *made = opaque;
    self->flows--;
    if (made->kind == NEVOD_FLOW_LOGIN && made->started && made->awaits != 0 && !made->failed)
        self->left = 1;
    if (FAULTY("flow-free-crashes-when-left") && made->kind == NEVOD_FLOW_REFRESH &&
        made->awaits == NEVOD_EVENT_RESPONSE && !made->failed)
        CRASH();
    if (FAULTY("flow-free-crashes-unused") && !made->started)
        CRASH();
    if (FAULTY("flow-leaks"))
        return;
    if (!(FAULTY("flow-leaks-when-abandoned") && made->awaits != 0))
        free(made->token);
    free(made);
}

static int32_t ask_password(instance *self, const nevod_actions *actions, const nevod_errors *errors)
{
    char prompt[256] = "Password";
    if (FAULTY("prompt-shows-secret"))
        snprintf(prompt, sizeof prompt, "Password for %s", self->secret);
    const nevod_question password = {
        .struct_size = sizeof password, .kind = NEVOD_QUESTION_SECRET, .prompt = of(prompt),
        .name = FAULTY("question-without-name") ? TEXT("") : TEXT("password")};
    const nevod_question *const questions[] = {&password};
    while (actions->ask(actions->host, questions, 1) != NEVOD_OK) {
        if (FAULTY("flow-crashes-when-ask-fails"))
            CRASH();
        if (!FAULTY("flow-insists-on-asking"))
            return fail(errors, NEVOD_UNSUPPORTED, "", "needs a person to enter a password");
    }
    return NEVOD_OK;
}

static int32_t send_request(instance *self, flow *made, const char *body, const nevod_actions *actions)
{
    char url[9000], authorization[256];
    const char *path = FAULTY("secret-in-url") ? "/token?client_secret=" : "/token";
    snprintf(url, sizeof url, "%s%s%s", FAULTY("flow-to-another-origin") ? "https://collector.example" : self->url, path,
             FAULTY("secret-in-url") ? self->secret : "");
    snprintf(authorization, sizeof authorization, "Secret %.200s%s", self->secret, FAULTY("flow-control-in-header") ? "\x01" : "");
    const nevod_pair headers[] = {
        {TEXT("Content-Type"), TEXT("application/x-www-form-urlencoded")},
        {FAULTY("flow-sets-host") ? TEXT("Host") : TEXT("Authorization"), of(authorization)},
    };
    nevod_flow_request request = {
        .struct_size = sizeof request, .method = FAULTY("flow-bad-method") ? TEXT("PO ST") : TEXT("POST"), .url = of(url),
        .headers = headers, .header_count = COUNT(headers), .body = of(body)};
    made->sent++;
    made->awaits = NEVOD_EVENT_RESPONSE;
    int32_t status = actions->send(actions->host, &request);
    if (FAULTY("flow-two-actions"))
        actions->send(actions->host, &request);
    return status;
}

static int32_t give(flow *made, const char *content, const nevod_event *event, const nevod_actions *actions)
{
    char *bytes = issue(content);
    if (bytes == NULL)
        return NEVOD_INTERNAL;
    nevod_token token = {
        .struct_size = sizeof token, .bytes = of(bytes), .account = TEXT("someone"),
        .expires_at_unix_ns = event->unix_time_ns < INT64_MAX / 2 ? event->unix_time_ns + 3600000000000 : 0};
    if (FAULTY("account-is-token"))
        token.account = of(content);
    if (FAULTY("token-empty"))
        token.bytes.count = 0;
    if (FAULTY("token-expired-at-birth"))
        token.expires_at_unix_ns = 1;
    char account[300];
    if (FAULTY("token-long-account")) {
        memset(account, 'a', sizeof account);
        token.account = (nevod_bytes){(uint8_t *)account, sizeof account};
    }
    made->awaits = 0;
    int32_t status = actions->token(actions->host, &token);
    explicit_bzero(bytes, strlen(bytes));
    free(bytes);
    return status;
}

static int32_t on_reply(instance *self, flow *made, const nevod_event *event, const nevod_actions *actions,
                        const nevod_errors *errors)
{
    const nevod_response *response = event->response;
    const nevod_bytes body = response->body;
    if (FAULTY("flow-crashes-without-headers") && response->header_count == 0)
        CRASH();
    if (FAULTY("flow-crashes-on-5xx") && response->status >= 500)
        CRASH();
    if (FAULTY("flow-crashes-on-large") && body.count > 500000)
        CRASH();
    if (FAULTY("flow-crashes-on-skew")) {
        nevod_bytes date = find(response->headers, response->header_count, TEXT("Date"));
        if (date.count > 0 && (event->unix_time_ns < 1000000000000 || event->unix_time_ns > 4000000000000000000))
            CRASH();
    }
    if (response->status >= 500 || response->status == 429)
        return fail(errors, FAULTY("flow-denies-on-5xx") ? NEVOD_DENIED : NEVOD_UNAVAILABLE, "", "the server can't respond now");
    if (FAULTY("flow-retries-401") && response->status == 401)
        return send_request(self, made, "again", actions);
    if (response->status >= 400) {
        if (FAULTY("flow-failure-silent"))
            return NEVOD_DENIED;
        if (FAULTY("flow-failure-unknown-status"))
            return fail(errors, 42, "", "the server refuses the password");
        return fail(errors, NEVOD_DENIED, "", "the server refuses the password");
    }
    if (made->kind == NEVOD_FLOW_LOGOUT) {
        const nevod_token none = {.struct_size = sizeof none};
        const nevod_token some = {.struct_size = sizeof some, .bytes = TEXT("bye")};
        made->awaits = 0;
        return actions->token(actions->host, FAULTY("logout-issues-token") ? &some : &none);
    }
    static const char key[] = "\"access_token\"";
    const char *start = body.count ? memmem(body.data, body.count, key, sizeof key - 1) : NULL;
    const char *end = body.count ? (const char *)body.data + body.count : NULL;
    if (start == NULL && FAULTY("flow-crashes-on-wrong-type"))
        CRASH();
    if (start != NULL) {
        start += sizeof key - 1;
        while (start < end && (*start == ' ' || *start == ':'))
            start++;
        start = start < end && *start == '"' ? start + 1 : NULL;
    }
    const char *stop = start;
    while (stop != NULL && stop < end && *stop != '"')
        stop++;
    if (start == NULL || stop == end || stop == start || stop - start > 4096)
        return fail(errors, NEVOD_UNAVAILABLE, "", "the server's response contains no token");
    if (FAULTY("flow-logs-token")) {
        char line[512];
        snprintf(line, sizeof line, "logged in with %.*s", (int)(stop - start), start);
        self->host->log(self->host->host, NEVOD_LOG_DEBUG, of(line));
    }
    free(made->token);
    made->token = copied((nevod_bytes){(const uint8_t *)start, (uint64_t)(stop - start)});
    if (made->token == NULL)
        return NEVOD_INTERNAL;
    if (FAULTY("flow-counts-others"))
        made->token[0] = (char)('0' + self->flows);
    return give(made, made->token, event, actions);
}

static int32_t make_step(void *pointer, void *opaque, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    instance *self = pointer;
    flow *made = opaque;
    made->started = 1;
    if (FAULTY("flow-blocks"))
        block();
    if (event->kind == NEVOD_EVENT_START)
        made->thread = gettid();
    if (FAULTY("flow-insists-on-thread") && made->thread != gettid())
        return fail(errors, NEVOD_UNAVAILABLE, "", "the flow began on another thread");
    if (FAULTY("flow-shared")) {
        /* Several threads keep the progress of their flows in one place. */
        static volatile int32_t shared;
        shared = made->awaits;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        made->awaits = shared;
    }
    if (FAULTY("flow-keeps-sink")) {
        if (kept_actions != NULL)
            kept_actions->set_state(kept_actions->host, TEXT("late"));
        kept_actions = actions;
    }
    if (FAULTY("flow-refuses-grown-event") && event->struct_size != sizeof *event)
        return fail(errors, NEVOD_INTERNAL, "", "the event is of another version");
    if (FAULTY("fuzz-flow") && event->random.count == 32 && event->random.data[3] == event->random.data[5] % 16)
        CRASH();
    if (FAULTY("flow-keeps-event")) {
        if (made->borrowed != NULL)
            kept_byte = *(const volatile uint8_t *)made->borrowed;
        made->borrowed = event->random.data;
    }
    if (FAULTY("flow-overreads-event") && event->random.count > 0)
        kept_byte = ((const volatile uint8_t *)event->random.data)[event->random.count];
    if (event->kind == NEVOD_EVENT_CANCELLED) {
        if (FAULTY("flow-crashes-on-cancel"))
            CRASH();
        if (FAULTY("flow-hangs-on-cancel"))
            for (;;)
                pause();
        return fail(errors, NEVOD_UNAVAILABLE, "", "the login was cancelled");
    }
    if (event->kind == NEVOD_EVENT_TRANSPORT_ERROR && made->awaits == NEVOD_EVENT_RESPONSE) {
        if (FAULTY("flow-crashes-on-transport-error"))
            CRASH();
        return fail(errors, FAULTY("flow-denies-on-transport-error") ? NEVOD_DENIED : NEVOD_UNAVAILABLE, "",
                    "the server can't be reached");
    }
    if (event->kind != made->awaits) {
        if (FAULTY("flow-crashes-on-unknown-event") && event->kind > NEVOD_EVENT_CANCELLED)
            CRASH();
        if (FAULTY("flow-crashes-on-wrong-event") && event->kind <= NEVOD_EVENT_CANCELLED)
            CRASH();
        if (FAULTY("flow-takes-unknown-event") && event->kind > NEVOD_EVENT_CANCELLED)
            return give(made, "unknown", event, actions);
        return fail(errors, NEVOD_UNSUPPORTED, "", "the flow waits for something else");
    }
    if (FAULTY("flow-no-action") && event->kind == NEVOD_EVENT_START)
        return NEVOD_OK;
    switch (event->kind) {
    case NEVOD_EVENT_START:
        if (made->kind == NEVOD_FLOW_LOGIN) {
            made->awaits = NEVOD_EVENT_ANSWERS;
            made->token = copied(TEXT("not yet"));
            return ask_password(self, actions, errors);
        }
        if (event->token == NULL) {
            if (FAULTY("refresh-crashes-without-token"))
                CRASH();
            return fail(errors, NEVOD_BAD_TOKEN, "", "there is no token to renew");
        }
        return send_request(self, made, made->kind == NEVOD_FLOW_REFRESH ? "grant_type=refresh" : "revoke=1", actions);
    case NEVOD_EVENT_ANSWERS: {
        nevod_bytes password = find(event->answers, event->answer_count, TEXT("password"));
        if (password.count == 0) {
            if (FAULTY("flow-crashes-without-answer"))
                CRASH();
            return fail(errors, NEVOD_UNAVAILABLE, "", "no password was entered");
        }
        if (password.count > 4096)
            return fail(errors, NEVOD_DENIED, "", "the password is too long");
        char *typed = copied(password);
        if (typed == NULL)
            return NEVOD_INTERNAL;
        char body[8192];
        snprintf(body, sizeof body, "password=%s", typed);
        if (FAULTY("flow-logs-password"))
            self->host->log(self->host->host, NEVOD_LOG_DEBUG, of(body));
        explicit_bzero(typed, strlen(typed));
        free(typed);
        int32_t status = send_request(self, made, body, actions);
        explicit_bzero(body, sizeof body);
        return status;
    }
    default:
        return on_reply(self, made, event, actions, errors);
    }
}

static int32_t flow_step(void *pointer, void *opaque, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    int32_t status = make_step(pointer, opaque, event, actions, errors);
    ((flow *)opaque)->failed = status != NEVOD_OK;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The tables. Not constant, so that a fault can change a field.                                                      */

static nevod_setting key_id_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REQUIRED,
    .name = NEVOD_BYTES("key-id"), .help = NEVOD_BYTES("Id of the key, sent with each request")};
static nevod_setting secret_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .flags = NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET,
    .name = NEVOD_BYTES("secret"), .help = NEVOD_BYTES("Key of the signature")};
static nevod_setting url_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_URL, .flags = NEVOD_SETTING_REQUIRED,
    .name = NEVOD_BYTES("url"), .help = NEVOD_BYTES("Address of the server that issues tokens")};
static nevod_bytes choices[] = {NEVOD_BYTES("short"), NEVOD_BYTES("long")};
static nevod_setting form_setting = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_CHOICE, .choices = choices, .choice_count = 2,
    .name = NEVOD_BYTES("form"), .default_value = NEVOD_BYTES("short"), .help = NEVOD_BYTES("Form of the signature")};
static const nevod_setting *const settings[] = {&key_id_setting, &secret_setting, &url_setting, &form_setting};

static nevod_setting scope_parameter = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("scope"),
    .help = NEVOD_BYTES("Scope of the request")};
static const nevod_setting *const parameters[] = {&scope_parameter};

static nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .flags = NEVOD_SCHEME_INTERACTIVE, .id = NEVOD_BYTES("faulty"),
    .title = NEVOD_BYTES("A scheme with at most one fault"), .settings = settings, .setting_count = COUNT(settings),
    .parameters = parameters, .parameter_count = COUNT(parameters), .create = create, .destroy = destroy, .needs = needs,
    .token_decode = token_decode, .token_free = token_free, .authorize = authorize, .on_response = on_response,
    .flow_begin = flow_begin, .flow_step = flow_step, .flow_free = flow_free, .body_piece = body_piece, .body_free = body_free};
static const nevod_scheme *schemes[] = {&scheme, &scheme};

static nevod_plugin plugin = {
    .struct_size = sizeof(nevod_plugin), .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .schemes = schemes,
    .scheme_count = 1, .name = NEVOD_BYTES("Faulty"), .version = NEVOD_BYTES("1.0.0"), .vendor = NEVOD_BYTES("NevodHost")};

static const void *any_extension(const nevod_scheme *of_scheme, nevod_bytes name)
{
    (void)of_scheme, (void)name;
    return &plugin;
}

__attribute__((constructor)) static void loaded(void)
{
    if (FAULTY("constructor-sets-limit")) {
        struct rlimit files;
        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur--;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (FAULTY("constructor-sets-rounding"))
        fesetround(FE_UPWARD);
    if (FAULTY("constructor-needs-socket")) {
        int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (made < 0)
            CRASH();
        close(made);
    }
    if (FAULTY("constructor-crashes"))
        CRASH();
    if (FAULTY("constructor-hangs"))
        for (;;)
            pause();
    if (FAULTY("constructor-exits"))
        _exit(0);
    if (FAULTY("constructor-starts-thread"))
        start_thread();
    if (FAULTY("constructor-opens-file"))
        (void)!open("/dev/null", O_RDONLY);
    if (FAULTY("constructor-prints")) {
        puts("hello");
        fflush(stdout);
    }
    if (FAULTY("constructor-sets-locale"))
        setlocale(LC_ALL, "C.UTF-8");
    if (FAULTY("constructor-sets-environment"))
        setenv("FAULTY", "1", 1);
    if (FAULTY("constructor-sets-umask"))
        umask(0);
    if (FAULTY("constructor-changes-folder"))
        (void)!chdir("/");
    if (FAULTY("constructor-handles-signal"))
        signal(SIGUSR1, SIG_IGN);
    if (FAULTY("constructor-is-slow"))
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
}

static void change(void)
{
    if (FAULTY("wrong-major"))
        plugin.abi_major = 2;
    if (FAULTY("wrong-draft"))
        plugin.abi_draft = 1;
    if (FAULTY("newer-minor"))
        plugin.abi_minor = 99;
    if (FAULTY("plugin-reserved"))
        plugin.reserved = 1;
    if (FAULTY("plugin-short"))
        plugin.struct_size = 16;
    if (FAULTY("no-schemes"))
        plugin.scheme_count = 0;
    if (FAULTY("duplicate-schemes"))
        plugin.scheme_count = 2;
    if (FAULTY("no-name"))
        plugin.name.count = 0;
    if (FAULTY("no-version"))
        plugin.version.count = 0;
    if (FAULTY("bad-id"))
        scheme.id = TEXT("Not An Id");
    if (FAULTY("bad-utf8-title"))
        scheme.title = TEXT("\xff\xfe");
    if (FAULTY("no-title"))
        scheme.title.count = 0;
    if (FAULTY("no-authorize"))
        scheme.authorize = NULL;
    if (FAULTY("half-of-token"))
        scheme.token_free = NULL;
    if (FAULTY("half-of-flow"))
        scheme.flow_free = NULL;
    if (FAULTY("half-of-body"))
        scheme.body_free = NULL;
    if (FAULTY("unknown-flag"))
        scheme.flags |= 1u << 9;
    if (FAULTY("interactive-without-flow"))
        scheme.flow_begin = NULL, scheme.flow_step = NULL, scheme.flow_free = NULL;
    if (FAULTY("version-without-number"))
        plugin.version = TEXT("first");
    if (FAULTY("no-vendor"))
        plugin.vendor.count = 0;
    if (FAULTY("control-in-help"))
        url_setting.help = TEXT("Address\x01");
    if (FAULTY("issuer-is-text"))
        key_id_setting.flags |= NEVOD_SETTING_ISSUER;
    if (FAULTY("relative-is-text"))
        key_id_setting.flags |= NEVOD_SETTING_RELATIVE;
    if (FAULTY("relative-without-base"))
        url_setting.flags |= NEVOD_SETTING_RELATIVE;
    if (FAULTY("any-extension"))
        plugin.get_extension = any_extension;
    if (FAULTY("duplicate-setting"))
        key_id_setting.name = TEXT("url"), url_setting.name = TEXT("url");
    if (FAULTY("setting-without-help"))
        url_setting.help.count = 0;
    if (FAULTY("bad-setting-name"))
        form_setting.name = TEXT("Form_");
    if (FAULTY("unknown-setting-kind"))
        form_setting.kind = 77;
    if (FAULTY("default-not-a-choice"))
        form_setting.default_value = TEXT("medium");
    if (FAULTY("choice-without-choices"))
        form_setting.choice_count = 0, form_setting.default_value.count = 0;
    if (FAULTY("secret-not-secret"))
        secret_setting.flags = NEVOD_SETTING_REQUIRED;
    if (FAULTY("secret-parameter"))
        scope_parameter.flags = NEVOD_SETTING_SECRET;
    if (FAULTY("relative-parameter"))
        scope_parameter.kind = NEVOD_SETTING_URL, scope_parameter.flags = NEVOD_SETTING_RELATIVE;
    if (FAULTY("long-title")) {
        static uint8_t letters[5000];
        memset(letters, 'a', sizeof letters);
        scheme.title = (nevod_bytes){letters, sizeof letters};
    }
}

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
    static nevod_plugin other;
    static int asked;
#ifdef THREAD_LOCAL
    large_block[1] = 1;
#endif
    if (FAULTY("entry-crashes"))
        CRASH();
    if (FAULTY("entry-returns-null"))
        return NULL;
    if (FAULTY("entry-shared")) {
        static volatile int inside;
        int others = __sync_fetch_and_add(&inside, 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        __sync_fetch_and_sub(&inside, 1);
        if (others > 0)
            return &other;
    }
    change();
    if (FAULTY("entry-returns-another") && asked++ > 0) {
        other = plugin;
        return &other;
    }
    return &plugin;
}
