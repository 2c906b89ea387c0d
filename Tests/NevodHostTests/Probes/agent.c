/* Uses a signer in another process, such as ssh-agent. This scheme has no key, and requests each signature over a Unix socket. */
#define _GNU_SOURCE
#include "probe.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

PROBE_SETTING(socket_setting, "socket", NEVOD_SETTING_TEXT, NEVOD_SETTING_REQUIRED);
static const nevod_setting *const settings[] = { &socket_setting };

static int32_t create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                      void **instance, const nevod_errors *errors) {
    (void)scheme, (void)host;
    struct sockaddr_un *address = calloc(1, sizeof *address);
    if (!address) return NEVOD_INTERNAL;
    address->sun_family = AF_UNIX;
    if (!copy(address->sun_path, sizeof address->sun_path, value_of(values, count, "socket"))) {
        free(address);
        return fail(errors, NEVOD_BAD_SETTINGS, "socket", "is too long for a path of a socket");
    }
    *instance = address;
    return NEVOD_OK;
}

static void destroy(void *instance) { free(instance); }

static int32_t authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors) {
    (void)token;
    text message;
    char answer[256];
    size_t count = 0;
    clear(&message), put_bytes(&message, view->method), put_text(&message, " "), put_bytes(&message, view->target);
    put_text(&message, "\n");
    const int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = { .tv_sec = 60 };
    if (agent < 0 || setsockopt(agent, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 || message.is_cut ||
        connect(agent, instance, sizeof(struct sockaddr_un)) != 0 ||
        send(agent, message.data, message.count, MSG_NOSIGNAL) != (ssize_t)message.count) {
        if (agent >= 0) close(agent);
        return fail(errors, NEVOD_UNAVAILABLE, "socket", "has no agent listening on it");
    }
    while (count < sizeof answer) {
        const ssize_t got = recv(agent, answer + count, sizeof answer - count, 0);
        if (got <= 0) break;
        count += (size_t)got;
    }
    close(agent);
    if (count == 0 || count == sizeof answer) return fail(errors, NEVOD_UNAVAILABLE, "socket", "has an agent that doesn't sign");
    edits->set_header(edits->host, bytes("X-Signature"), (nevod_bytes){ (const uint8_t *)answer, count });
    return NEVOD_OK;
}

static const nevod_scheme scheme = {
    .struct_size = sizeof(nevod_scheme),
    .flags = NEVOD_SCHEME_BLOCKS,
    .id = NEVOD_BYTES("agent"),
    .title = NEVOD_BYTES("Signatures of an agent"),
    .settings = settings,
    .setting_count = 1,
    .create = create,
    .destroy = destroy,
    .authorize = authorize,
};
PROBE_PLUGIN("Agent", scheme)
