/*
 * A valid plugin that ends its process or its thread in one function. PLACE is the function's name, and FAULT is the statement.
 * Also compiled as C++.
 */
#define _GNU_SOURCE
#include "nevod_plugin.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(literal) ((nevod_bytes)NEVOD_BYTES(literal))

/* For tests to use in FAULT. */
static volatile int zero;
static int *volatile nowhere;
#define WRITE_TO_NULL *nowhere = 1
#define DIVIDE zero = 7 / zero
#define RECURSE zero = recurse(1)
#define ALLOCATE *(volatile char *)alloca(1u << 30) = 1
#define ON_ITS_OWN_THREAD(statement) \
    do { \
        pthread_t thread; \
        pthread_create(&thread, NULL, own_thread, NULL); \
        pthread_join(thread, NULL); \
    } while (0)

#ifndef THREAD
#define THREAD
#endif

/* Not a tail call, so that each call uses stack. */
__attribute__((noinline)) static int recurse(int depth)
{
    volatile char used[1024];
    used[depth % 1024] = 1;
    return depth ? recurse(depth + 1) + used[0] : 0;
}

static void *own_thread(void *unused)
{
    (void)unused;
    THREAD;
    return NULL;
}

__attribute__((noinline)) static void reach(const char *place)
{
    (void)recurse, (void)own_thread, (void)nowhere;
    if (strcmp(place, PLACE) == 0) {
        FAULT;
    }
}

__attribute__((constructor)) static void loaded(void)
{
    reach("its constructors");
}

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **instance, const nevod_errors *errors)
{
    (void)scheme, (void)host, (void)values, (void)value_count, (void)instance, (void)errors;
    reach("create");
    return NEVOD_OK;
}

static void destroy(void *instance)
{
    (void)instance;
    reach("destroy");
}

static const nevod_needs *needs(void *instance)
{
    static nevod_needs valid;
    (void)instance;
    reach("needs");
    /* A host destroys an instance if it rejects its needs. */
    valid.struct_size = strcmp("destroy", PLACE) == 0 ? 1 : sizeof valid;
    valid.flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES;
    return &valid;
}

static int32_t token_decode(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors)
{
    (void)instance, (void)bytes, (void)token, (void)errors;
    reach("token_decode");
    return NEVOD_OK;
}

static void token_free(void *instance, void *token)
{
    (void)instance, (void)token;
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    (void)instance, (void)token, (void)view, (void)edits, (void)errors;
    reach("authorize");
    return NEVOD_OK;
}

static int32_t on_response(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors)
{
    (void)instance, (void)token, (void)request, (void)response, (void)actions, (void)errors;
    reach("on_response");
    return NEVOD_VERDICT_NOTHING;
}

static int32_t flow_begin(void *instance, int32_t kind, void **flow, const nevod_errors *errors)
{
    (void)instance, (void)kind, (void)flow, (void)errors;
    reach("flow_begin");
    return NEVOD_OK;
}

static int32_t flow_step(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors)
{
    (void)instance, (void)flow, (void)event, (void)errors;
    reach("flow_step");
    nevod_token token;
    memset(&token, 0, sizeof token);
    token.struct_size = sizeof token;
    token.bytes = TEXT("tok-123");
    return actions->token(actions->host, &token);
}

static void flow_free(void *instance, void *flow)
{
    (void)instance, (void)flow;
    reach("flow_free");
}

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void)
{
    static nevod_setting key;
    static const nevod_setting *const settings[] = {&key};
    static nevod_scheme scheme;
    static const nevod_scheme *const schemes[] = {&scheme};
    static nevod_plugin plugin;
    reach("nevod_plugin_v1");
    key.struct_size = sizeof key;
    key.kind = NEVOD_SETTING_TEXT;
    key.flags = NEVOD_SETTING_SECRET;
    key.name = TEXT("key");
    scheme.struct_size = sizeof scheme;
    scheme.id = TEXT("crash");
    scheme.title = TEXT("A crash for tests");
    scheme.settings = settings;
    scheme.setting_count = 1;
    scheme.create = create;
    scheme.destroy = destroy;
    scheme.needs = needs;
    scheme.token_decode = token_decode;
    scheme.token_free = token_free;
    scheme.authorize = authorize;
    scheme.on_response = on_response;
    scheme.flow_begin = flow_begin;
    scheme.flow_step = flow_step;
    scheme.flow_free = flow_free;
    plugin.struct_size = sizeof plugin;
    plugin.abi_major = NEVOD_ABI_MAJOR;
    plugin.abi_draft = NEVOD_ABI_DRAFT;
    plugin.schemes = schemes;
    plugin.scheme_count = 1;
    plugin.name = TEXT("Crash");
    plugin.version = TEXT("1.0");
    return &plugin;
}
