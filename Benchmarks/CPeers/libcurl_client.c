#define _GNU_SOURCE
#include "cpeers.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_SECONDS 60.0
#define MAX_CONCURRENCY 10000
#define EVENTS_PER_WAIT 256
#define HEADER_LINES 4

struct buffer {
    char *bytes;
    size_t count, capacity;
};

struct transfer {
    CURL *easy;
    struct buffer head, body;
    // curl reads this list without copying or freeing it. Keeping nodes and text here saves eight allocations for each request.
    struct curl_slist nodes[HEADER_LINES];
    char lines[HEADER_LINES][112];
    bool running;
};

// The events that libcurl wants for one socket, and the events registered with epoll.
struct interest {
    uint32_t wanted, registered;
    bool queued;
};

struct cpeers_libcurl {
    CURLM *multi;
    char *url;
    int loop, concurrency;
    size_t expected_body;
    struct transfer *transfers;

    long wanted, begun, finished;
    int failure;
    double deadline;

    int epoll;
    struct interest *interests;  // indexed by file descriptor
    size_t interest_count;
    int *changed;                // descriptors whose interest differs from what epoll knows, at most once each
    size_t changed_count;
    double timer;                // when libcurl is to be called without an event; negative if never
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// ---- One transfer ---------------------------------------------------------------------------------------------------------------

// The buffers keep their memory from one response to the next.
static size_t append(char *bytes, size_t size, size_t count, void *context) {
    struct buffer *buffer = context;
    size_t added = size * count;
    if (buffer->capacity - buffer->count < added) {
        size_t capacity = 2 * (buffer->count + added) + 1024;
        char *grown = realloc(buffer->bytes, capacity);
        if (grown == NULL)
            return 0;  // fewer than were given: libcurl fails the transfer
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->count, bytes, added);
    buffer->count += added;
    return added;
}

static int close_socket(void *context, curl_socket_t socket);

// Sets the options that stay the same for all requests.
static int prepare(struct transfer *transfer, cpeers_libcurl *client) {
    CURL *easy = transfer->easy = curl_easy_init();
    if (easy == NULL)
        return CPEERS_SETUP;
    for (int i = 0; i < HEADER_LINES; i++) {
        transfer->nodes[i].data = transfer->lines[i];
        transfer->nodes[i].next = i + 1 < HEADER_LINES ? &transfer->nodes[i + 1] : NULL;
    }
    // Without NOSIGNAL each call into libcurl costs two sigaction(2).
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // The empty string, not NULL: no proxy, and the environment isn't searched for one at each request.
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer->body);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer->head);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    if (client->loop == CPEERS_LOOP_SOCKET_ACTION) {
        curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
        curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, client);
    }
    return CPEERS_OK;
}

// Before each request, sets everything that a signing client can't know earlier, as a client of many URLs does.
static void begin(cpeers_libcurl *client, struct transfer *transfer) {
    long number = client->begun++;
    transfer->head.count = 0;
    transfer->body.count = 0;
    snprintf(transfer->lines[0], sizeof transfer->lines[0], "X-API-Key: 5f1c0a92-7d43-4e0b");
    snprintf(transfer->lines[1], sizeof transfer->lines[1], "X-Timestamp: %ld", 1700000000 + number);
    snprintf(transfer->lines[2], sizeof transfer->lines[2], "X-Signature: %064lx", number);
    snprintf(transfer->lines[3], sizeof transfer->lines[3], "Accept: application/json");
    CURLcode code = curl_easy_setopt(transfer->easy, CURLOPT_URL, client->url);
    if (code == CURLE_OK)
        code = curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->nodes);
    if (code != CURLE_OK)
        client->failure = (int)code;
    else if (curl_multi_add_handle(client->multi, transfer->easy) != CURLM_OK)
        client->failure = CPEERS_MULTI;
    else
        transfer->running = true;
}

static int check(const cpeers_libcurl *client, const struct transfer *transfer, CURLcode code) {
    static const char version[] = "HTTP/1.1 ";
    long status = 0;
    if (code != CURLE_OK)
        return (int)code;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    bool expected = status == 200 && transfer->body.count == client->expected_body
        && transfer->head.count > sizeof version && memcmp(transfer->head.bytes, version, sizeof version - 1) == 0;
    return expected ? CPEERS_OK : CPEERS_RESPONSE;
}

// Removes and checks the finished transfers, and starts as many new ones as needed. Returns whether it started any.
static bool turn_over(cpeers_libcurl *client) {
    bool began = false;
    int left;
    for (CURLMsg *message; client->failure == CPEERS_OK && (message = curl_multi_info_read(client->multi, &left)) != NULL;) {
        struct transfer *transfer;
        CURLcode code = message->data.result;  // the message is gone after remove_handle
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(client->multi, transfer->easy);
        transfer->running = false;
        client->failure = check(client, transfer, code);
        client->finished++;
        if (client->failure == CPEERS_OK && client->begun < client->wanted) {
            begin(client, transfer);
            began = true;
        }
    }
    return began;
}

static bool unfinished(cpeers_libcurl *client) {
    if (client->failure == CPEERS_OK && client->finished < client->wanted && now() > client->deadline)
        client->failure = CPEERS_DEADLINE;
    return client->failure == CPEERS_OK && client->finished < client->wanted;
}

// ---- The loop most programs have ------------------------------------------------------------------------------------------------

static void run_perform(cpeers_libcurl *client) {
    int running;
    while (unfinished(client)) {
        if (curl_multi_perform(client->multi, &running) != CURLM_OK)
            client->failure = CPEERS_MULTI;
        // New transfers are sent before the loop sleeps.
        else if (!turn_over(client) && unfinished(client)
                 && curl_multi_poll(client->multi, NULL, 0, 1000, NULL) != CURLM_OK)
            client->failure = CPEERS_MULTI;
    }
}

// ---- The loop of an event-driven program ----------------------------------------------------------------------------------------

static struct interest *interest_in(cpeers_libcurl *client, int socket) {
    size_t index = (size_t)socket;
    if (index >= client->interest_count) {
        size_t count = 2 * index + 64;
        struct interest *interests = realloc(client->interests, count * sizeof *interests);
        if (interests != NULL)
            client->interests = interests;
        int *changed = realloc(client->changed, count * sizeof *changed);
        if (changed != NULL)
            client->changed = changed;
        if (interests == NULL || changed == NULL) {
            client->failure = CPEERS_SETUP;
            return NULL;
        }
        memset(interests + client->interest_count, 0, (count - client->interest_count) * sizeof *interests);
        client->interest_count = count;
    }
    return &client->interests[index];
}

// Between two requests on one connection, libcurl drops its interest and states it again. Changes are noted here and passed to
// epoll only before it waits, so the two cancel out. That saves two epoll_ctl(2) for each request.
static int socket_changed(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context) {
    (void)easy, (void)socket_context;
    cpeers_libcurl *client = context;
    struct interest *interest = interest_in(client, socket);
    if (interest == NULL)
        return -1;
    interest->wanted = what == CURL_POLL_REMOVE
        ? 0
        : (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (!interest->queued) {
        interest->queued = true;
        client->changed[client->changed_count++] = socket;
    }
    return 0;
}

// Closing removes a descriptor from epoll. Another connection may get the same number before epoll is told anything.
static int close_socket(void *context, curl_socket_t socket) {
    struct interest *interest = interest_in(context, socket);
    if (interest != NULL)
        interest->wanted = interest->registered = 0;
    return close(socket);
}

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    cpeers_libcurl *client = context;
    client->timer = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : now() + (double)milliseconds / 1e3;
    return 0;
}

static void tell_epoll(cpeers_libcurl *client) {
    for (size_t i = 0; i < client->changed_count; i++) {
        int socket = client->changed[i];
        struct interest *interest = &client->interests[socket];
        interest->queued = false;
        if (interest->wanted == interest->registered)
            continue;
        int operation = interest->wanted == 0 ? EPOLL_CTL_DEL : interest->registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
        struct epoll_event event = {.events = interest->wanted, .data.fd = socket};
        if (epoll_ctl(client->epoll, operation, socket, &event) != 0)
            client->failure = CPEERS_MULTI;
        interest->registered = interest->wanted;
    }
    client->changed_count = 0;
}

// With the event's kind, libcurl reads at once instead of calling poll(2) first.
static void act(cpeers_libcurl *client, int socket, uint32_t events) {
    int kind = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
        | (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    int running;
    if (curl_multi_socket_action(client->multi, socket, kind, &running) != CURLM_OK)
        client->failure = CPEERS_MULTI;
}

static void run_socket_action(cpeers_libcurl *client) {
    struct epoll_event events[EVENTS_PER_WAIT];
    while (unfinished(client)) {
        // Beginning a transfer only sets the timer to zero; one call then sends all that have begun.
        if (client->timer >= 0 && client->timer <= now()) {
            client->timer = -1;
            act(client, CURL_SOCKET_TIMEOUT, 0);
        }
        if (turn_over(client) || !unfinished(client))
            continue;
        tell_epoll(client);
        double wait = client->timer < 0 ? 1 : client->timer - now();
        // Rounded up: waking before the timer is due would spin.
        int milliseconds = wait <= 0 ? 0 : wait >= 1 ? 1000 : (int)(wait * 1e3) + 1;
        int count = epoll_wait(client->epoll, events, EVENTS_PER_WAIT, milliseconds);
        if (count < 0 && errno != EINTR)
            client->failure = CPEERS_MULTI;
        for (int i = 0; i < count; i++)
            act(client, events[i].data.fd, events[i].events);
        turn_over(client);
    }
}

// ---- The client -----------------------------------------------------------------------------------------------------------------

cpeers_libcurl *cpeers_libcurl_open(const char *url, int concurrency, int loop, size_t expected_body) {
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY || (loop != CPEERS_LOOP_PERFORM && loop != CPEERS_LOOP_SOCKET_ACTION))
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return NULL;
    cpeers_libcurl *client = calloc(1, sizeof *client);
    if (client == NULL) {
        curl_global_cleanup();
        return NULL;
    }
    *client = (cpeers_libcurl){
        .multi = curl_multi_init(),
        .url = strdup(url),
        .loop = loop,
        .concurrency = concurrency,
        .expected_body = expected_body,
        .transfers = calloc((size_t)concurrency, sizeof(struct transfer)),
        .epoll = loop == CPEERS_LOOP_SOCKET_ACTION ? epoll_create1(EPOLL_CLOEXEC) : -1,
        .timer = -1,
    };
    bool ready = client->multi != NULL && client->url != NULL && client->transfers != NULL
        && (client->epoll >= 0 || loop == CPEERS_LOOP_PERFORM);
    for (int i = 0; ready && i < concurrency; i++)
        ready = prepare(&client->transfers[i], client) == CPEERS_OK;
    if (!ready) {
        cpeers_libcurl_close(client);
        return NULL;
    }
    // Otherwise the pool's size follows the number of handles that happen to be added.
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
    if (loop == CPEERS_LOOP_SOCKET_ACTION) {
        curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
        curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
        curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
        curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    }
    return client;
}

int cpeers_libcurl_measure(cpeers_libcurl *client, long requests, double *seconds) {
    if (client->failure != CPEERS_OK || requests < 0)
        return CPEERS_SETUP;
    double start = now();
    client->deadline = start + DEADLINE_SECONDS;
    client->wanted = requests;
    client->begun = client->finished = 0;
    for (int i = 0; i < client->concurrency && client->begun < requests && client->failure == CPEERS_OK; i++)
        begin(client, &client->transfers[i]);
    if (client->loop == CPEERS_LOOP_PERFORM)
        run_perform(client);
    else
        run_socket_action(client);
    *seconds = now() - start;
    return client->failure;
}

void cpeers_libcurl_close(cpeers_libcurl *client) {
    if (client == NULL)
        return;
    for (int i = 0; client->transfers != NULL && i < client->concurrency; i++) {
        struct transfer *transfer = &client->transfers[i];
        if (transfer->running)
            curl_multi_remove_handle(client->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
        free(transfer->head.bytes);
        free(transfer->body.bytes);
    }
    // Closes the pooled connections through close_socket, so its data is freed afterwards.
    curl_multi_cleanup(client->multi);
    if (client->epoll >= 0)
        close(client->epoll);
    free(client->interests);
    free(client->changed);
    free(client->transfers);
    free(client->url);
    free(client);
    curl_global_cleanup();
}

int cpeers_libcurl_run(const char *url, int concurrency, long requests, int loop, size_t expected_body, double *seconds) {
    cpeers_libcurl *client = cpeers_libcurl_open(url, concurrency, loop, expected_body);
    if (client == NULL)
        return CPEERS_SETUP;
    int result = cpeers_libcurl_measure(client, concurrency, seconds);
    if (result == CPEERS_OK)
        result = cpeers_libcurl_measure(client, requests, seconds);
    cpeers_libcurl_close(client);
    return result;
}
