/* A scheme that takes a second for each request, like a slow signer, and declares that it blocks. */
#include "cpeers.h"
#include "nevod_plugin.h"

#include <time.h>

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count, void **instance,
                      const nevod_errors *errors) {
    (void)scheme, (void)host, (void)values, (void)count, (void)errors;
    *instance = NULL;
    return NEVOD_OK;
}

static void destroy(void *instance) { (void)instance; }

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)instance, (void)token, (void)view, (void)errors;
    const struct timespec second = { .tv_sec = 1 };
    nanosleep(&second, NULL);
    return edits->set_header(edits->host, (nevod_bytes)NEVOD_BYTES("X-Slow"), (nevod_bytes)NEVOD_BYTES("1"));
}

static const nevod_scheme scheme = {
    .struct_size = sizeof scheme, .flags = NEVOD_SCHEME_BLOCKS, .id = NEVOD_BYTES("slow"), .title = NEVOD_BYTES("Slow"),
    .create = create, .destroy = destroy, .authorize = authorize,
};
static const nevod_scheme *const schemes[] = { &scheme };
static const nevod_plugin plugin = {
    .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1, .schemes = schemes,
    .name = NEVOD_BYTES("Slow"), .version = NEVOD_BYTES("1"),
};

const void *cpeers_slow_plugin(void) { return &plugin; }
