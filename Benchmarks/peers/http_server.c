// The server that every client of a benchmark run talks to. Build: cc -O2 -Wall -Wextra -o http_server http_server.c
//
// It shares two cores with the measured program, so it does little: one thread, and in the steady state one recv(2) and one send(2)
// for each request plus a share of an epoll_wait(2). It reads from a connection once per wake-up and lets level-triggered epoll
// report what is left, instead of reading until EAGAIN.
//
//   --port N      default 0: the kernel chooses
//   --parent PID  exit if this isn't the parent: catches a parent that ended before this program could look
//
// GET /bytes/N returns N bytes. All other paths but these return a JSON object of exactly 200 bytes:
//   /api     that object, or 401 unless the request carries "Authorization: Bearer access-N" of the current generation N
//   /token   begins the next generation, and returns its tokens (RFC 6749 section 5.1)
//   /expire  begins the next generation, without returning its tokens
//   /counts  the numbers of responses to /api, of refusals among them, and of issued tokens
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 10000
#define MAX_HEAD 32768
#define MAX_RESPONSE (1ull << 30)
#define EVENTS_PER_WAIT 512

static const char json[] =
    "{\"id\":4711,\"name\":\"nevod\",\"active\":true,\"score\":0.875,\"tags\":[\"catch\",\"hold\",\"release\"],"
    "\"owner\":{\"id\":17,\"login\":\"fisher\",\"email\":\"fisher@example.org\"},"
    "\"created\":\"2024-05-01T12:30:00Z\",\"note\":\"fixed\"}";
_Static_assert(sizeof json - 1 == 200, "clients of the benchmark expect this length");

enum resource { JSON, BYTES, API, TOKEN, EXPIRE, COUNTS };

struct request {
    bool is_head, keep_alive, expects, understood;
    enum resource resource;
    uint64_t body;     // bytes that follow the head
    uint64_t length;   // of the response to /bytes/N
    uint64_t token;    // N of "Bearer access-N"
};

static struct {
    uint64_t generation, answered, refused, issued;
} tokens = {.generation = 1};

struct connection {
    char *input;          // an incomplete head, or requests that wait until a response is sent
    size_t input_count;
    struct request request;
    bool owes;            // whether `request` still needs its response
    uint64_t skip;        // bytes of that body still to come
    char *output;         // output that the socket didn't take
    size_t output_count;
    uint64_t fill;        // bytes of a /bytes/N body still to send after that
    uint32_t interest;
    bool closing;         // after what is to be sent
};

static int epoll;
static struct connection *connections;  // indexed by file descriptor
static int connection_limit;

// Shared by all connections: a request usually arrives in one read, so its connection needs no memory of its own.
static char input[MAX_HEAD + 65536];
static char output[131072];
static size_t output_count;
static char filler[65536];

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *need(void *memory) {
    if (memory == NULL)
        fail("http_server: out of memory");
    return memory;
}

// The clock is read without a system call, and the text is made once a second.
static const char *date(void) {
    static char text[32];
    static time_t made;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != made) {
        struct tm utc;
        made = now.tv_sec;
        gmtime_r(&made, &utc);
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    }
    return text;
}

static void add(const void *bytes, size_t count) {
    memcpy(output + output_count, bytes, count);
    output_count += count;
}

static void add_text(const char *text) {
    add(text, strlen(text));
}

static void add_number(uint64_t number) {
    char digits[20];
    size_t start = sizeof digits;
    do
        digits[--start] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    add(digits + start, sizeof digits - start);
}

static void drop(int socket) {
    struct connection *connection = &connections[socket];
    free(connection->input);
    free(connection->output);
    *connection = (struct connection){0};
    close(socket);
}

static void watch(int socket, uint32_t interest) {
    struct connection *connection = &connections[socket];
    if (connection->interest == interest)
        return;
    struct epoll_event event = {.events = interest, .data.fd = socket};
    if (epoll_ctl(epoll, connection->interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0)
        fail("http_server: epoll_ctl");
    connection->interest = interest;
}

enum sent { SENT, BLOCKED, GONE };

static enum sent send_all(int socket, const char *bytes, size_t count, size_t *sent) {
    for (*sent = 0; *sent < count;) {
        ssize_t taken = send(socket, bytes + *sent, count - *sent, MSG_NOSIGNAL);
        if (taken >= 0)
            *sent += (size_t)taken;
        else if (errno == EAGAIN)
            return BLOCKED;
        else if (errno != EINTR)
            return GONE;
    }
    return SENT;
}

// Sends the connection's pending output, then the shared output, then the filler; keeps the rest.
static enum sent flush(int socket) {
    struct connection *connection = &connections[socket];
    size_t sent;
    enum sent result = SENT;
    if (connection->output_count > 0) {
        result = send_all(socket, connection->output, connection->output_count, &sent);
        connection->output_count -= sent;
        memmove(connection->output, connection->output + sent, connection->output_count);
    } else if (output_count > 0) {
        result = send_all(socket, output, output_count, &sent);
        if (result == BLOCKED) {
            connection->output_count = output_count - sent;
            connection->output = need(realloc(connection->output, connection->output_count));
            memcpy(connection->output, output + sent, connection->output_count);
        }
        output_count = 0;
    }
    while (result == SENT && connection->fill > 0) {
        size_t count = connection->fill < sizeof filler ? (size_t)connection->fill : sizeof filler;
        result = send_all(socket, filler, count, &sent);
        connection->fill -= sent;
    }
    return result;
}

// Digits only, and nothing near overflow.
static bool number(const char *text, const char *end, uint64_t *value) {
    *value = 0;
    if (text == end || end - text > 18)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *value = 10 * *value + (uint64_t)(*text - '0');
    }
    return true;
}

static bool is_field(const char *line, const char *end, const char *name, const char **value, const char **value_end) {
    size_t count = strlen(name);
    if ((size_t)(end - line) <= count || line[count] != ':' || strncasecmp(line, name, count) != 0)
        return false;
    for (line += count + 1; line < end && (*line == ' ' || *line == '\t'); line++) {}
    for (; end > line && (end[-1] == ' ' || end[-1] == '\t'); end--) {}
    *value = line;
    *value_end = end;
    return true;
}

static enum resource resource_of(const char *path, const char *end) {
    static const struct {
        const char *path;
        enum resource resource;
    } others[] = {{"/api", API}, {"/token", TOKEN}, {"/expire", EXPIRE}, {"/counts", COUNTS}};
    size_t count = (size_t)(end - path);
    if (count > 7 && memcmp(path, "/bytes/", 7) == 0)
        return BYTES;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].path) == count && memcmp(path, others[i].path, count) == 0)
            return others[i].resource;
    return JSON;
}

// `end` is just past the empty line.
static struct request parse(const char *head, const char *end) {
    struct request request = {.understood = true};
    const char *line_end = memchr(head, '\r', (size_t)(end - head));
    const char *path = memchr(head, ' ', (size_t)(line_end - head));
    const char *path_end = path == NULL ? NULL : memchr(path + 1, ' ', (size_t)(line_end - path - 1));
    if (path_end == NULL || line_end - path_end != 9 || memcmp(path_end, " HTTP/1.", 8) != 0)
        return (struct request){0};
    path++;
    request.keep_alive = line_end[-1] == '1';
    request.is_head = path - head == 5 && memcmp(head, "HEAD", 4) == 0;
    request.resource = resource_of(path, path_end);
    if (request.resource == BYTES)
        request.understood = number(path + 7, path_end, &request.length) && request.length <= MAX_RESPONSE;
    for (const char *line = line_end + 2; line < end - 2; line = line_end + 2) {
        const char *value, *value_end;
        line_end = memchr(line, '\r', (size_t)(end - line));
        switch (*line | 0x20) {  // most lines begin with another letter and are skipped
        case 'a':
            if (is_field(line, line_end, "authorization", &value, &value_end) && value_end - value > 14
                && memcmp(value, "Bearer access-", 14) == 0 && !number(value + 14, value_end, &request.token))
                request.token = 0;
            break;
        case 'c':
            if (is_field(line, line_end, "content-length", &value, &value_end))
                request.understood &= number(value, value_end, &request.body);
            else if (is_field(line, line_end, "connection", &value, &value_end) && value_end - value == 5
                     && strncasecmp(value, "close", 5) == 0)
                request.keep_alive = false;
            break;
        case 'e':
            request.expects |= is_field(line, line_end, "expect", &value, &value_end);
            break;
        case 't':
            // No client here sends chunks, and misreading them would be worse than rejecting them.
            request.understood &= !is_field(line, line_end, "transfer-encoding", &value, &value_end);
            break;
        }
    }
    return request;
}

// Writes the text of a response that changes, and returns its length.
static size_t state_text(enum resource resource, char *text, size_t size) {
    int count = 0;
    if (resource == TOKEN)
        count = snprintf(
            text, size,
            "{\"access_token\":\"access-%" PRIu64 "\",\"refresh_token\":\"refresh-%" PRIu64 "\",\"token_type\":\"Bearer\"}",
            tokens.generation, tokens.generation);
    else if (resource == COUNTS)
        count = snprintf(
            text, size, "{\"answered\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"issued\":%" PRIu64 "}", tokens.answered,
            tokens.refused, tokens.issued);
    return (size_t)count;
}

static void respond(struct connection *connection, const struct request *request) {
    const char *head = "HTTP/1.1 200 OK\r\nServer: nevod-peer\r\nDate: ";
    const char *body = json;
    char text[256];
    uint64_t count = sizeof json - 1;
    switch (request->resource) {
    case JSON:
        break;
    case BYTES:
        count = request->length;
        body = NULL;
        break;
    case API:
        tokens.answered++;
        if (request->token == tokens.generation)
            break;
        tokens.refused++;
        head = "HTTP/1.1 401 Unauthorized\r\nServer: nevod-peer\r\nWWW-Authenticate: Bearer\r\nDate: ";
        count = 0;
        break;
    case TOKEN:
    case EXPIRE:
    case COUNTS:
        // Tokens issued before become invalid.
        tokens.generation += request->resource != COUNTS;
        tokens.issued += request->resource == TOKEN;
        count = state_text(request->resource, text, sizeof text);
        body = text;
        break;
    }
    if (!request->understood) {
        head = "HTTP/1.1 400 Bad Request\r\nDate: ";
        count = 0;
    }
    if (!request->understood || !request->keep_alive)
        connection->closing = true;
    add_text(head);
    add_text(date());
    add_text("\r\nContent-Type: application/json\r\nContent-Length: ");
    add_number(count);
    add_text(connection->closing ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    if (request->is_head)
        return;
    if (body != NULL) {
        add(body, (size_t)count);
    } else if (count <= sizeof filler / 2) {
        add(filler, (size_t)count);
    } else {
        connection->fill = count;
    }
}

// Returns whether the shared output has room for one more response.
static bool has_room(void) {
    return sizeof output - output_count >= sizeof filler / 2 + 1024;
}

// Responds to every complete request in `bytes`, as long as the client accepts the responses; keeps the rest.
static enum sent serve(int socket, const char *bytes, size_t count) {
    struct connection *connection = &connections[socket];
    enum sent result = SENT;
    while (count > 0 && result == SENT && !connection->closing) {
        if (!connection->owes) {
            const char *end = memmem(bytes, count, "\r\n\r\n", 4);
            if (end == NULL && count < MAX_HEAD)
                break;
            connection->owes = true;
            connection->request = (struct request){0};
            if (end != NULL) {
                end += 4;
                connection->request = parse(bytes, end);
                count -= (size_t)(end - bytes);
                bytes = end;
            }
            const struct request *request = &connection->request;
            connection->skip = request->understood ? request->body : 0;
            // A client that expects 100-continue waits for it only while it has sent nothing of the body.
            if (request->expects && connection->skip > 0 && count == 0)
                add_text("HTTP/1.1 100 Continue\r\n\r\n");
        }
        size_t skipped = connection->skip < count ? (size_t)connection->skip : count;
        connection->skip -= skipped;
        bytes += skipped;
        count -= skipped;
        if (connection->skip > 0)
            break;
        connection->owes = false;
        respond(connection, &connection->request);
        if (connection->fill > 0 || !has_room())
            result = flush(socket);
    }
    if (result == SENT)
        result = flush(socket);
    // A blocked connection is not read from, so this stays below the size of the shared input.
    free(connection->input);
    connection->input = count > 0 ? memcpy(need(malloc(count)), bytes, count) : NULL;
    connection->input_count = count;
    return result;
}

static void settle(int socket, enum sent result) {
    if (result == GONE || (result == SENT && connections[socket].closing))
        drop(socket);
    else
        watch(socket, result == BLOCKED ? EPOLLOUT : EPOLLIN);
}

static void readable(int socket) {
    struct connection *connection = &connections[socket];
    size_t kept = connection->input_count;
    if (kept > 0)
        memcpy(input, connection->input, kept);
    ssize_t count = recv(socket, input + kept, sizeof input - kept, 0);
    if (count > 0)
        settle(socket, serve(socket, input, kept + (size_t)count));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        drop(socket);
}

static void writable(int socket) {
    struct connection *connection = &connections[socket];
    enum sent result = flush(socket);
    if (result == SENT && connection->input_count > 0) {
        size_t kept = connection->input_count;
        memcpy(input, connection->input, kept);
        result = serve(socket, input, kept);
    }
    settle(socket, result);
}

static void accept_all(int listener) {
    for (;;) {
        int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            if (errno == EAGAIN)
                return;
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            fail("http_server: accept4");  // continuing with fewer connections than requested would make the benchmark misleading
        }
        if (socket >= connection_limit) {
            errno = EMFILE;
            fail("http_server: accept4");
        }
        int on = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(socket, EPOLLIN);
    }
}

static int open_descriptors(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = MAX_CONNECTIONS + 64;
    if (limit.rlim_max < limit.rlim_cur)
        limit.rlim_max = limit.rlim_cur;  // works for root only
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return (int)limit.rlim_cur;
}

static void terminated(int signal) {
    (void)signal;
    _exit(0);
}

int main(int argc, char **argv) {
    pid_t parent = getppid();
    long port = 0;
    for (int i = 1; i < argc; i += 2) {
        char *end = NULL;
        long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : -1;
        if (value >= 0 && *end == '\0' && strcmp(argv[i], "--port") == 0 && value <= 65535) {
            port = value;
        } else if (value > 0 && *end == '\0' && strcmp(argv[i], "--parent") == 0) {
            parent = (pid_t)value;
        } else {
            fprintf(stderr, "usage: http_server [--port N] [--parent PID]\n");
            return 2;
        }
    }
    // The kernel sends this when the *thread* that started the program ends, so start it from a long-lived one.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;

    struct sigaction action = {.sa_handler = terminated};
    sigaction(SIGTERM, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);  // the parent's mask may block SIGTERM

    connection_limit = open_descriptors();
    connections = need(calloc((size_t)connection_limit, sizeof *connections));
    memset(filler, 'x', sizeof filler);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
        || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, MAX_CONNECTIONS) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail("http_server: listen");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        fail("http_server: epoll_create1");
    watch(listener, EPOLLIN);
    printf("listening on http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);

    for (;;) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        if (count < 0 && errno != EINTR)
            fail("http_server: epoll_wait");
        for (int i = 0; i < count; i++) {
            int socket = events[i].data.fd;
            if (socket == listener)
                accept_all(listener);
            else if (connections[socket].interest == EPOLLOUT)
                writable(socket);
            else
                readable(socket);
        }
    }
}
