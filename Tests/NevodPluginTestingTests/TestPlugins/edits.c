/* A scheme that calls the host's functions as a request's target says. */
#include "nevod_plugin.h"

#include <string.h>

static nevod_edits kept;

static nevod_bytes text(const char *s) { return (nevod_bytes){(const uint8_t *)s, strlen(s)}; }

static int is(nevod_bytes a, const char *b) { return a.count == strlen(b) && memcmp(a.data, b, a.count) == 0; }

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count, void **out,
                      const nevod_errors *errors)
{
    (void)scheme, (void)errors, (void)values;
    if (value_count != 1)
        return NEVOD_BAD_SETTINGS;
    *out = (void *)host;
    return NEVOD_OK;
}

static void destroy(void *instance) { (void)instance; }

static const nevod_needs *needs(void *instance)
{
    static const nevod_bytes digests[] = {NEVOD_BYTES("sha-256"), NEVOD_BYTES("sha-512")};
    static const nevod_needs all = {
        .struct_size = sizeof(nevod_needs), .digests = digests, .digest_count = 2,
        .flags = NEVOD_NEED_BODY | NEVOD_NEED_HEADERS | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT
            | NEVOD_NEED_REPLACE_BODY | NEVOD_NEED_CHALLENGES};
    (void)instance;
    return &all;
}

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors)
{
    const nevod_host *host = instance;
    nevod_bytes target = view->target;
    (void)token;
    if (is(target, "/grown")) {
        host->log(host->host, NEVOD_LOG_INFO, text(view->struct_size > sizeof *view ? "grown" : "known"));
    } else if (is(target, "/view")) {
        /* Copies the view's contents into headers. */
        edits->set_header(edits->host, text("X-First"), view->headers[0].value);
        edits->set_header(edits->host, text("X-Digests"), view->digests[1].value.count == 64 ? text("2") : text("none"));
        edits->set_header(edits->host, text("X-Uses"), view->use_count == 2 ? text("two") : text("other"));
        edits->add_query(edits->host, text("state"), view->state);
        edits->add_query(edits->host, text("random"), (nevod_bytes){view->random.data, 2});
    } else if (is(target, "/stop")) {
        while (edits->set_header(edits->host, text("X-A"), text("1")) == NEVOD_OK)
            ;
        errors->report(errors->host, text("X-A"), text("refused"), text("the detail"));
        return NEVOD_UNSUPPORTED;
    } else if (is(target, "/keep")) {
        kept = *edits;
    } else if (is(target, "/use")) {
        kept.set_header(kept.host, text("X-Kept"), text("1"));
    } else if (is(target, "/null")) {
        edits->set_header(edits->host, text("X-Null"), (nevod_bytes){NULL, 5});
    } else if (is(target, "/host")) {
        edits->set_header(edits->host, text("Host"), text("other"));
    } else if (is(target, "/all")) {
        edits->add_cookie(edits->host, text("id"), text("new"));
        edits->add_header(edits->host, text("Accept"), text("b"));
        edits->replace_body(edits->host, text("other"));
    } else if (is(target, "/suffix")) {
        const nevod_public_suffix *list = host->get_extension(host->host, text("nevod.public-suffix/1"));
        edits->set_header(
            edits->host, text("X-Suffixes"),
            list != NULL && list->is_public(list->host, text("co.uk")) && !list->is_public(list->host, text("a.co.uk"))
                ? text("right") : text("wrong"));
    }
    return NEVOD_OK;
}

static int32_t respond(void *instance, const void *token, const nevod_view *view, const nevod_response *response,
                       const nevod_actions *actions, const nevod_errors *errors)
{
    (void)instance, (void)token, (void)view, (void)errors;
    if (response->status == 403)
        return actions->wait(actions->host, 1), NEVOD_VERDICT_NOTHING;
    actions->set_state(actions->host, response->headers[0].value);
    return NEVOD_VERDICT_RETRY_ONCE;
}

static const nevod_setting mode = {
    .struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_TEXT, .name = NEVOD_BYTES("mode"), .default_value = NEVOD_BYTES("a")};
static const nevod_setting *const settings[] = {&mode};
static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme), .id = NEVOD_BYTES("edits"), .title = NEVOD_BYTES("Edits"), .settings = settings,
    .setting_count = 1, .create = create, .destroy = destroy, .needs = needs, .authorize = authorize, .on_response = respond};
static const nevod_scheme *const schemes[] = {&scheme};

const nevod_plugin *nevod_plugin_v1(void)
{
    static const nevod_plugin plugin = {
        .struct_size = sizeof plugin, .abi_major = NEVOD_ABI_MAJOR, .abi_draft = NEVOD_ABI_DRAFT, .scheme_count = 1,
        .schemes = schemes, .name = NEVOD_BYTES("Edits"), .version = NEVOD_BYTES("1"), .vendor = NEVOD_BYTES("Tests")};
    return &plugin;
}
