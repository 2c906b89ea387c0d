/*
 * nevod_plugin.h - the whole contract between a host and an authentication scheme
 *
 * A scheme is a library that knows how to obtain a token, how to put it on an HTTP request, and how to renew it.
 * It does no network I/O. The host owns the network, the storage, the clock, the randomness, the locks and the logs.
 * Everything from outside enters through arguments, so `authorize` depends on nothing but its instance, its token, the
 * state and the view. That is what makes a scheme testable, replayable, and able to run in another process unchanged.
 * (A scheme whose key lies in a smart card, a TPM or an agent talks to that: see BLOCKING.)
 *
 * A minimal plugin implements: nevod_plugin_v1, and one scheme with `create`, `destroy` and `authorize`.
 *
 * RULES THAT HOLD FOR EVERY FUNCTION IN THIS FILE
 *
 *   Memory     A nevod_bytes is borrowed: what it points to is valid until the call it was passed to returns, unless
 *              the field's own comment says longer. Output goes into host *sinks* (nevod_errors, nevod_edits,
 *              nevod_actions, nevod_output), which copy before they return. The side that allocates a block frees it; no
 *              block of memory ever changes hands.
 *   Sinks      A sink is good for the call it was passed to, on that call's thread. Later, in another call or on another
 *              thread, its functions do nothing and return NEVOD_UNSUPPORTED.
 *   Strings    UTF-8, without a terminator or a NUL inside. An absent string has count 0; its pointer is then never read.
 *   Pointers   No pointer argument and no function in a host's table is NULL unless its comment says so. An array with
 *              count 0 may be NULL.
 *   Failure    A status (NEVOD_OK or another), and before it at most one call of the error sink. A status without a
 *              report is allowed, but leaves the user without an explanation. Each function's comment names the statuses
 *              that have a meaning there; any other one counts as NEVOD_INTERNAL.
 *   Unwinding  Nothing crosses this boundary: no exception, no panic, no longjmp.
 *   Threads    Each function's comment names the threads it runs on. "Any, concurrently" means that calls may run at the
 *              same time on several threads, also on one instance: lock shared data. There are at least
 *              NEVOD_LIMIT_STACK bytes of stack.
 *   Blocking   `create` may take as long as it needs. `destroy`, `needs`, `token_free`, `flow_free` and `body_free` must not
 *              wait for anything. All other functions of a scheme must return within NEVOD_LIMIT_CALL_NS, because they run
 *              on the thread that carries all traffic; unless the scheme has the flag NEVOD_SCHEME_BLOCKS: its calls run
 *              on worker threads of the host, where they may wait for a smart card, a TPM, an agent's socket or a long
 *              computation. A scheme that takes much longer without the flag is moved to those threads, with a warning.
 *              A request whose call doesn't return fails at its own deadline, and a flow whose call doesn't return ends after
 *              NEVOD_LIMIT_FLOW_CALL_SECONDS; what such a call does later has no effect.
 *   Process    A plugin is a guest. It must not call exit, abort, fork or exec; change signal handlers, the locale, the
 *              environment, the working directory, the umask, resource limits, or descriptors that it did not open; read
 *              standard input or write to standard output and error. Threads of its own must be joined in `destroy`, must
 *              not call the host except for `log` and `get_extension`, and may be gone without notice when the process ends.
 *              Descriptors of its own are close-on-exec, and it writes to sockets without SIGPIPE (MSG_NOSIGNAL). A host
 *              reports a crash or an exit in a call with the names of library, scheme and function; it can't see _exit.
 *   Library    Linked without an executable stack (-z noexecstack), and with search paths (RPATH, RUNPATH) only to $ORIGIN or
 *              to absolute folders, none of which others can write: a host refuses the rest before it runs a line of it.
 *   Lifetime   A plugin is never unloaded. `destroy` is called for an instance that the host drops; at the end of the
 *              process it may not be called: what must last belongs in a token.
 *
 * GROWTH
 *
 *   Structs    Begin with `struct_size`, set to sizeof by the side that fills them, and only grow at the end. A reader demands
 *              the constant minimum of the struct's first frozen revision (NEVOD_VIEW_MINIMUM, …), so the fields within it
 *              are always present. It reads a later field only if NEVOD_HAS is true for it. nevod_bytes and nevod_pair
 *              never change.
 *   Versions   A plugin names the lowest minor version that it needs (nevod_plugin.abi_minor); a host that serves less refuses
 *              it. The host names its own (nevod_host.abi_minor), and a plugin may use whatever NEVOD_HAS finds.
 *   Reserved   `reserved` fields are zero. A host refuses a struct in which one is not.
 *   Unknown values, in fields that the other side fills:
 *     flags      Bits 0 to 15 are critical: a reader that doesn't know one refuses the struct, with "needs a newer host". Bits
 *                16 to 30 are ignorable: a reader that doesn't know one goes on without it. Bit 31 is never assigned.
 *     to a host  An unknown kind of setting, like an unknown critical bit or need, refuses the scheme, not the plugin. An
 *                unknown kind of question makes `ask` return NEVOD_UNSUPPORTED. An unknown verdict counts as
 *                NEVOD_VERDICT_NOTHING, an unknown status as NEVOD_INTERNAL, an unknown log level as the nearest known one.
 *     to a plugin  An unknown kind of flow: `flow_begin` returns NEVOD_UNSUPPORTED. An unknown target, body or event, or a
 *                critical flag: return NEVOD_UNSUPPORTED, or NEVOD_VERDICT_NOTHING from `on_response`. An unknown transport
 *                error counts as NEVOD_TRANSPORT_PERMANENT.
 *
 * STATUS OF THIS FILE: a draft. Until it is frozen, NEVOD_ABI_DRAFT counts its changes and a host accepts exactly its
 * own draft. From the freeze on the draft is 0 and any later minor growth stays compatible.
 *
 * Part of NevodHost. MIT licence.
 */
#ifndef NEVOD_PLUGIN_H
#define NEVOD_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major version is also in the name of the entry point: a host reads a library's symbol table before it loads it,
 * so that a refusal can name both versions without running a line of the library. */
#define NEVOD_ABI_MAJOR 1u
#define NEVOD_ABI_MINOR 0u
#define NEVOD_ABI_DRAFT 4u

#ifdef __cplusplus
static_assert(sizeof(void *) == 8, "the contract is laid out for 64-bit pointers");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(void *) == 8, "the contract is laid out for 64-bit pointers");
#endif

/* Named, so that a generator of bindings finds them. (Swift imports a named enum as a type of its own, and an anonymous one as the
 * integers that the fields are.) */
#ifdef __swift__
#define NEVOD_ENUM(name) enum
#else
#define NEVOD_ENUM(name) enum name
#endif

/* True when a struct reaches at least to the end of this field. */
#define NEVOD_HAS(pointer, type, field) \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#define NEVOD_CRITICAL_BITS 0x0000ffffu
#define NEVOD_IGNORABLE_BITS 0x7fff0000u

/* The sizes of the structs in their first frozen revision, which every reader may rely on. (In a draft: their sizes.) */
#define NEVOD_ERRORS_MINIMUM 24u
#define NEVOD_HOST_MINIMUM 64u
#define NEVOD_VIEW_MINIMUM 192u
#define NEVOD_EDITS_MINIMUM 64u
#define NEVOD_OUTPUT_MINIMUM 24u
#define NEVOD_RESPONSE_MINIMUM 72u
#define NEVOD_SETTING_MINIMUM 72u
#define NEVOD_NEEDS_MINIMUM 56u
#define NEVOD_TOKEN_MINIMUM 48u
#define NEVOD_EVENT_MINIMUM 160u
#define NEVOD_QUESTION_MINIMUM 56u
#define NEVOD_FLOW_REQUEST_MINIMUM 72u
#define NEVOD_LISTEN_MINIMUM 48u
#define NEVOD_ACTIONS_MINIMUM 88u
#define NEVOD_SCHEME_MINIMUM 168u
#define NEVOD_PLUGIN_MINIMUM 88u

/* Limits. A host may allow more in a later version, never less. Sizes in bytes. */
#define NEVOD_LIMIT_CALL_NS 1000000ll      /* 1 ms: how long a call may take without NEVOD_SCHEME_BLOCKS */
#define NEVOD_LIMIT_STACK 262144           /* the least stack that a call finds */
#define NEVOD_LIMIT_SCHEMES 64             /* of a plugin */
#define NEVOD_LIMIT_SETTINGS 256           /* of a scheme; also its parameters, and the choices of one setting */
#define NEVOD_LIMIT_NAME 64                /* the id of a scheme; the name of a setting, a parameter or a question */
#define NEVOD_LIMIT_TEXT 4096              /* a text in a plugin's tables */
#define NEVOD_LIMIT_DIGESTS 16             /* of a request's body; and of a response's */
#define NEVOD_LIMIT_STATUSES 16            /* challenge statuses of `needs` */
#define NEVOD_LIMIT_TYPES 16               /* challenge types of `needs`, each of at most 255 bytes */
#define NEVOD_LIMIT_MESSAGE 1024           /* a report's subject and message, a log line, a prompt: longer ones are cut */
#define NEVOD_LIMIT_DETAIL 4096            /* a report's detail: longer ones are cut */
#define NEVOD_LIMIT_EDIT_NAME 256          /* the name in an edit */
#define NEVOD_LIMIT_EDIT_VALUE 65536       /* the value in an edit */
#define NEVOD_LIMIT_EDITS 262144           /* all edits of one call; without the body */
#define NEVOD_LIMIT_BODY 16777216          /* a body for `replace_body` */
#define NEVOD_LIMIT_STATE 65536            /* a state */
#define NEVOD_LIMIT_TOKEN 65536            /* a token's bytes */
#define NEVOD_LIMIT_ACCOUNT 256            /* a token's account */
#define NEVOD_LIMIT_PARAMETERS 16          /* parameters of a request, and 8192 bytes of names and values in all */
#define NEVOD_LIMIT_CHALLENGE_BODY 65536   /* a challenge's body in `on_response`: longer ones are cut */
#define NEVOD_LIMIT_CHALLENGES 4           /* CHALLENGE flows for one request */
#define NEVOD_LIMIT_FLOW_STEPS 100         /* without the waits and the steps that follow them */
#define NEVOD_LIMIT_FLOW_WAITS 2000        /* a device code is polled, every 5 s or so, for half an hour */
#define NEVOD_LIMIT_FLOW_SECONDS 3600      /* with the time that people take */
#define NEVOD_LIMIT_FLOW_CALL_SECONDS 60   /* a call of `flow_begin` or `flow_step`, with NEVOD_SCHEME_BLOCKS too */
#define NEVOD_LIMIT_FLOW_BYTES 8388608     /* the bodies of all responses of a flow */
#define NEVOD_LIMIT_FLOW_RESPONSE 1048576  /* the body of one: a longer one is NEVOD_TRANSPORT_TOO_LARGE */
#define NEVOD_LIMIT_FLOW_BODY 1048576      /* the body of a flow's request; and of a form that a browser posts */
#define NEVOD_LIMIT_FLOW_HEADERS 256       /* the header lines of a flow's request */
#define NEVOD_LIMIT_FLOW_REDIRECTS 10      /* that the host follows for one `send` */
#define NEVOD_LIMIT_URL 8192               /* a URL in an action */
#define NEVOD_LIMIT_PATH 256               /* the path of a redirect URI */
#define NEVOD_LIMIT_QUESTIONS 16           /* in one `ask` */
#define NEVOD_LIMIT_CHOICES 64             /* of one question, each of at most 256 bytes */

/* ---------------------------------------------------------------------------------------------------------------- */
/* Values. Frozen: these two structs never change.                                                                   */

typedef struct nevod_bytes {
    const uint8_t *data;
    uint64_t count;
} nevod_bytes;

typedef struct nevod_pair {
    nevod_bytes name;
    nevod_bytes value;
} nevod_pair;

/* A string literal as nevod_bytes, also in a static initialiser. */
#define NEVOD_BYTES(literal) { (const uint8_t *)(literal), sizeof(literal) - 1 }

/* Statuses, by what the host must do next. A value outside this list is a fault of the plugin. */
NEVOD_ENUM(nevod_status) {
    NEVOD_OK = 0,
    NEVOD_BAD_SETTINGS = 1, /* the user must change a setting; name it as the report's subject */
    NEVOD_BAD_TOKEN = 2,    /* the stored token can't be read, or can't be used by this instance: log in again */
    NEVOD_DENIED = 3,       /* in a flow: the server refused permanently; the host clears the token */
    NEVOD_UNAVAILABLE = 4,  /* a temporary failure: the host keeps the token and may retry later */
    NEVOD_UNSUPPORTED = 5,  /* this scheme can't do that, for example sign a streamed body */
    NEVOD_INTERNAL = 6      /* a fault of the plugin itself, or no memory */
};

/* ---------------------------------------------------------------------------------------------------------------- */
/* Passed by the host to a plugin.                                                                                   */

/* Receives the reason why a function failed. A sink: good for its call. */
typedef struct nevod_errors {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* subject: the cause, such as the name of a setting or a header; may be empty.
     * message: safe to show and to log. No secret, no user data. Shown behind the subject: "api-key" "must not be empty".
     * detail:  may contain sensitive text. Shown only if a user asked for it, never logged. May be empty.
     * Only the first report of a call counts. Can't fail. */
    void (*report)(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail);
} nevod_errors;

NEVOD_ENUM(nevod_log_level) { NEVOD_LOG_DEBUG = 1, NEVOD_LOG_INFO = 2, NEVOD_LOG_WARNING = 3, NEVOD_LOG_ERROR = 4 };

/* Services of the host. Valid, with everything that it points to, from `create` until `destroy` of that instance returns. */
typedef struct nevod_host {
    uint32_t struct_size;
    uint32_t abi_minor;    /* the minor version that the host serves */
    void *host;
    nevod_bytes name;      /* the host: "NevodHost" */
    nevod_bytes version;   /* its own version: "0.2.0" */
    /* Writes a line to the host's log: level is a NEVOD_LOG_…. Any thread, concurrently. Copies. Can't fail. Must not contain a
     * secret: the host hides the values of secret settings, and can't recognize another one, such as a token. */
    void (*log)(void *host, int32_t level, nevod_bytes message);
    /* Returns an optional service by name and revision ("nevod.something/1"), or NULL. The result is a struct whose own
     * documentation gives its layout; valid as long as this one. Any thread, concurrently.
     * Why by name: new services need no change of this file. */
    const void *(*get_extension)(void *host, nevod_bytes name);
} nevod_host;

/* The recipient of the credential. The host chooses it once for each instance.
 * ORIGIN: the server that the request goes to; a 401 is its challenge.
 * PROXY: the proxy on the way to it; a 407 is its challenge. `authorize` then writes Proxy-Authorization and nothing else,
 * which reaches no origin. The view contains what a proxy sees: the request line in the absolute form, or, if a tunnel is
 * opened, CONNECT with host and port as authority and target; no headers and no body. There is one state for all origins. */
NEVOD_ENUM(nevod_target_kind) { NEVOD_TARGET_ORIGIN = 0, NEVOD_TARGET_PROXY = 1 };

/* A body of length zero is NEVOD_BODY_NONE: the two can't be told apart on the wire. */
NEVOD_ENUM(nevod_body_kind) { NEVOD_BODY_NONE = 0, NEVOD_BODY_BYTES = 1, NEVOD_BODY_STREAM = 2 };

#define NEVOD_LENGTH_UNKNOWN 0xffffffffffffffffull

/* A request as it will be sent, without the edits of this call. All of it is valid until the call returns.
 * Parts that a scheme did not ask for in its `needs` are absent (count 0), to save the host's time. */
typedef struct nevod_view {
    uint32_t struct_size;
    int32_t target_kind;   /* NEVOD_TARGET_… */
    nevod_bytes method;    /* as sent: "GET" */
    nevod_bytes scheme;    /* "http" or "https" */
    nevod_bytes authority; /* the Host line as it will be sent: the URL's, "api.example.com" or "[::1]:8443" without a default port,
                              or one that the caller set, unchanged. For a proxy always the URL's */
    nevod_bytes target;    /* the exact request-target as on the request line: "/a%2Fb?x=1" (RFC 9112 §3.2); for a proxy
                              "http://example.com/a" or "example.com:443" */
    /* Every header line in the order of sending, Host first, repeated names repeated, names in the caller's letter case. Needs
     * NEVOD_NEED_HEADERS. */
    const nevod_pair *headers;
    uint32_t header_count;
    int32_t body_kind;     /* NEVOD_BODY_… */
    uint64_t body_length;  /* bytes, or NEVOD_LENGTH_UNKNOWN */
    nevod_bytes body;      /* of NEVOD_BODY_BYTES. Needs NEVOD_NEED_BODY */
    /* In the order of `needs`. name: as asked for ("sha-256"), value: the raw digest of the body, in its algorithm's length. None for
     * NEVOD_BODY_NONE. If there is a body, a digest is missing only if the body is a stream that can be read only once.
     * (A host that doesn't know an algorithm refuses the instance right after `needs`.) */
    const nevod_pair *digests;
    uint32_t digest_count;
    uint32_t attempt;      /* 1 for the first sending of a request, then 2, 3, … */
    /* Wall clock in nanoseconds since 1970-01-01T00:00:00Z, >= 0. Corrected for the clock of the request's origin, by the Date
     * fields (RFC 9110 §6.6.1) of its earlier responses over TLS or from this machine, by at most a day, to about a second. Not
     * corrected if the target is a proxy. A request that is refused with 401 or 403 while the correction changes by more than
     * 5 s is authorized again and sent once more, unless `on_response` asks for something else. */
    int64_t unix_time_ns;
    nevod_bytes random;    /* 32 bytes, fresh for this call. Needs NEVOD_NEED_RANDOM */
    /* The number of earlier uses of this token on this origin since the state changed: 0, 1, 2, …. No number occurs twice with
     * one state, even for concurrent requests. Setting the same bytes again is not a change. Needs NEVOD_NEED_USE_COUNT */
    uint64_t use_count;
    nevod_bytes state;     /* the bytes that `set_state` last kept for this (instance, account, origin). Needs NEVOD_NEED_STATE */
    /* The parameters that the caller attached to this request, as declared by the scheme: in the order of the declarations, checked
     * like settings, with the defaults of those that the caller left out. */
    const nevod_pair *parameters;
    uint32_t parameter_count;
    uint32_t reserved;
} nevod_view;

/* Receives the edits of `authorize`. A sink: good for its call. Functions return NEVOD_OK, or NEVOD_UNSUPPORTED if the host refuses
 * the edit; the whole `authorize` then fails with the host's reason, whatever the plugin returns, so a plugin need not check
 * the result.
 *
 * The host refuses: a name that is not a token (RFC 9110 §5.6.2); a value with a control character other than a tab (§5.5); more than
 * NEVOD_LIMIT_EDIT_NAME, NEVOD_LIMIT_EDIT_VALUE or NEVOD_LIMIT_EDITS; a second replace_body or wrap_body in one call;
 * Host, Content-Length, Transfer-Encoding, Connection, Keep-Alive, Proxy-Connection, TE, Upgrade, Expect, Trailer; Proxy-Authorization unless the target is a proxy, and everything else if it is.
 * Why: these decide where a request ends and which connection carries it, so they belong to the transport. */
typedef struct nevod_edits {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* Replaces every line of that name by one in the place of the first, or appends one. */
    int32_t (*set_header)(void *host, nevod_bytes name, nevod_bytes value);
    /* Appends a line. */
    int32_t (*add_header)(void *host, nevod_bytes name, nevod_bytes value);
    /* Appends name=value to the query. The host percent-encodes every byte of both except the unreserved ones (A-Z a-z 0-9 - . _ ~,
     * RFC 3986 §2.3), a space as %20. Items already there stay byte for byte, also those of the same name: two calls with one
     * name add two items. */
    int32_t (*add_query)(void *host, nevod_bytes name, nevod_bytes value);
    /* Adds name=value to the Cookie header (RFC 6265 §5.4), replacing the cookies of that name that the request has before
     * this call of `authorize`. Two cookies of one name, with different paths, are sent in the order in which they were added.
     * Name and value are sent as the server set them, with quotes, commas and spaces; the host refuses a control character
     * and `;` in either, `=` in the name, and an empty name. */
    int32_t (*add_cookie)(void *host, nevod_bytes name, nevod_bytes value);
    /* Replaces the body, which is NEVOD_BODY_BYTES or NEVOD_BODY_NONE, by these bytes: an encrypted one (JWE), for example. The host
     * writes Content-Length. Needs NEVOD_NEED_REPLACE_BODY. At most NEVOD_LIMIT_BODY.
     * A redirect that keeps the body (307, 308) starts from the caller's body again. To another origin it is sent as the caller gave it,
     * since no scheme sees that request: a caller whose body must not leave unencrypted turns redirects off. */
    int32_t (*replace_body)(void *host, nevod_bytes body);
    /* Replaces the body by `length` bytes that `body_piece` makes of it while it is sent: aws-chunked, for example. For
     * NEVOD_BODY_BYTES, and for NEVOD_BODY_STREAM with a known length. `wrapping` is the scheme's own; the host passes it to
     * `body_piece`, and once to `body_free`, also if this function or `authorize` fails. Needs NEVOD_NEED_REPLACE_BODY. */
    int32_t (*wrap_body)(void *host, uint64_t length, void *wrapping);
} nevod_edits;

/* Receives bytes. A sink: good for its call. */
typedef struct nevod_output {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* Appends. Returns NEVOD_OK, or NEVOD_UNSUPPORTED if the bytes exceed the length that was announced. */
    int32_t (*write)(void *host, nevod_bytes bytes);
} nevod_output;

NEVOD_ENUM(nevod_response_flags) {
    NEVOD_RESPONSE_CUT = 1u << 16 /* the body is longer than what is shown of it, or may be: it comes slowly, or broke off */
};

/* A server's response, as received. Valid until the call returns. */
typedef struct nevod_response {
    uint32_t struct_size;
    int32_t status;            /* 100 … 599 */
    int32_t target_kind;       /* the sender of the response: NEVOD_TARGET_… */
    uint32_t header_count;
    const nevod_pair *headers; /* every line in order, nothing merged: all of WWW-Authenticate, all of Set-Cookie */
    /* In a flow: the body, at most NEVOD_LIMIT_FLOW_RESPONSE. In `on_response`, and at the START of a CHALLENGE flow: the body of a
     * challenge, at most NEVOD_LIMIT_CHALLENGE_BODY, if NEVOD_NEED_CHALLENGE_BODY asked for it; else none. */
    nevod_bytes body;
    nevod_bytes url;           /* the URL of the response, after the redirects that the host followed */
    /* In `on_response`: the digests of the body that `needs` asked for, as in nevod_view, of the bytes as received (RFC 9530 §2: before
     * the content coding is undone). A body without bytes has the digests of zero bytes. None if the body was not received whole, or
     * arrived with a content coding that the host's transport undoes (the host asks the server for none): the body is then unknown,
     * and a scheme that requires a signature of it returns REFUSE. */
    const nevod_pair *digests;
    uint32_t digest_count;
    uint32_t flags;            /* NEVOD_RESPONSE_… */
} nevod_response;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Settings. Declared by the scheme, validated by the host: a scheme never parses a user's input.                     */

NEVOD_ENUM(nevod_setting_kind) {
    NEVOD_SETTING_TEXT = 1,
    NEVOD_SETTING_INTEGER = 2, /* arrives as decimal digits with an optional minus; fits int64_t */
    NEVOD_SETTING_BOOLEAN = 3, /* arrives as "true" or "false" */
    NEVOD_SETTING_CHOICE = 4,  /* arrives as one of `choices` */
    /* Arrives as an absolute http or https URL; a flow may send to its origin, also if it is secret. If it is neither secret nor an
     * issuer, it may be a protected resource: after a flow has fetched its metadata document from the well-known address (RFC 9728
     * §3.1), and if the document names this resource, up to 16 issuers that the document names count as NEVOD_SETTING_ISSUER does. */
    NEVOD_SETTING_URL = 5
};

NEVOD_ENUM(nevod_setting_flags) {
    NEVOD_SETTING_REQUIRED = 1u << 0,  /* the host refuses a `create` without it; an empty text is a value */
    NEVOD_SETTING_SECRET = 1u << 1,    /* never taken from a command line, never shown, wiped after `create` */
    NEVOD_SETTING_REPEATABLE = 1u << 2, /* may be given several times; arrives as several pairs, in order */
    /* For a URL: an issuer (RFC 8414 §2). After a flow has fetched its metadata document from one of the two well-known
     * addresses (RFC 8414 §3.1, OpenID Connect Discovery §4.1), and if the document names this issuer, a flow may send to the
     * endpoints that the document names. */
    NEVOD_SETTING_ISSUER = 1u << 3,
    /* For a URL of a scheme's settings: it may be given relative to the first value of the first URL setting without this flag, to
     * whose path a slash is added if it ends in none (RFC 3986 §5.2). The host resolves it, so that an absolute URL arrives; a
     * default too. Without a value of that setting it has to be absolute. The host refuses an empty reference, and one with an
     * authority of its own ("//example.com/"): a relative URL is at the origin of its base. */
    NEVOD_SETTING_RELATIVE = 1u << 4
};

/* A setting of a scheme, or a parameter of a request. */
typedef struct nevod_setting {
    uint32_t struct_size;
    int32_t kind;              /* NEVOD_SETTING_TEXT … */
    uint32_t flags;            /* NEVOD_SETTING_REQUIRED | … */
    uint32_t choice_count;
    const nevod_bytes *choices; /* for a CHOICE */
    nevod_bytes name;          /* "api-key": a-z, 0-9 and '-', beginning with a letter, at most 64 bytes */
    nevod_bytes default_value; /* the value that arrives if the user gives none; if empty, none arrives */
    nevod_bytes help;          /* one line, no full stop */
} nevod_setting;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Needs of an instance.                                                                                             */

NEVOD_ENUM(nevod_need_flags) {
    NEVOD_NEED_BODY = 1u << 0,
    NEVOD_NEED_HEADERS = 1u << 1,
    NEVOD_NEED_CHALLENGES = 1u << 2,      /* `on_response` for 401 and 403, or if the target is a proxy, for 407; and for what
                                             `challenge_statuses` and `challenge_types` name */
    NEVOD_NEED_OTHER_RESPONSES = 1u << 3, /* `on_response` for every other response; not from a proxy */
    NEVOD_NEED_RANDOM = 1u << 4,
    NEVOD_NEED_STATE = 1u << 5,
    NEVOD_NEED_USE_COUNT = 1u << 6,
    NEVOD_NEED_CHALLENGE_BODY = 1u << 7,  /* the body of a challenge */
    NEVOD_NEED_REPLACE_BODY = 1u << 8     /* `replace_body` and `wrap_body` */
};

typedef struct nevod_needs {
    uint32_t struct_size;
    uint32_t flags;
    /* Digests of the request's body, by their names in the registry of RFC 9530: "sha-256", "sha-512"; also "sha-384". */
    const nevod_bytes *digests;
    /* Digests of the bodies of responses, by the same names, computed while a body arrives. `on_response` then runs when the body is
     * complete: before the caller gets it, or, if the caller reads it as a stream, before the stream's end; not if the caller stops
     * reading. A challenge or a redirect (3xx) that is read as a stream is shown before the host acts on it, without digests if its
     * body is longer than NEVOD_LIMIT_CHALLENGE_BODY. */
    const nevod_bytes *response_digests;
    /* Statuses, 300 … 599, that are challenges of this scheme beside 401, 403 and 407: a redirect to a login page, for example. */
    const int32_t *challenge_statuses;
    uint32_t digest_count;
    uint32_t response_digest_count;
    uint32_t challenge_status_count;
    uint32_t challenge_type_count;
    /* Media types (RFC 9110 §8.3.1) without parameters: "text/html". A 2xx response with a body whose Content-Type is one of them, in
     * any letter case and with any parameters, is a challenge of this scheme too: a login page in place of what was asked for, for
     * example. Not from a proxy. If the caller reads it as a stream, the host holds back what NEVOD_NEED_CHALLENGE_BODY asks for until
     * `on_response` has returned, and no more, and not for longer than a second behind each piece that arrives; and nothing of a
     * response of another type. */
    const nevod_bytes *challenge_types;
} nevod_needs;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Flows obtain, renew and revoke tokens. A flow is a state machine without I/O: the host passes it an event, and it   */
/* responds with exactly one action. This mechanism supports an API key (the first action is `token`), a cookie login, */
/* every grant of OAuth 2, a device code with polling, Digest, and second factors.                                     */

NEVOD_ENUM(nevod_flow_kind) {
    NEVOD_FLOW_LOGIN = 1,
    NEVOD_FLOW_REFRESH = 2,   /* a token is expired, or a server rejected it */
    NEVOD_FLOW_CHALLENGE = 3, /* `on_response` returned NEVOD_VERDICT_CHALLENGE, for a 401, a 407 or a similar response */
    NEVOD_FLOW_LOGOUT = 4
};

NEVOD_ENUM(nevod_event_kind) {
    NEVOD_EVENT_START = 1,
    NEVOD_EVENT_RESPONSE = 2,        /* to `send`: `response` */
    NEVOD_EVENT_TRANSPORT_ERROR = 3, /* to `send`, or `listen`: `message`; `transport_error` says whether a retry may succeed */
    NEVOD_EVENT_ANSWERS = 4,         /* to `ask`: `answers`, by the questions' names */
    NEVOD_EVENT_SHOWN = 5,           /* to `show` */
    NEVOD_EVENT_LISTENING = 6,       /* to `listen`: `url` is the redirect URI */
    NEVOD_EVENT_REDIRECT = 7,        /* to `browse`: `url` was requested at the redirect URI, with the form `body` if it was posted. Any
                                        program on the machine may have sent it: check its proof, such as `state`. If it has
                                        none, `browse` again */
    NEVOD_EVENT_TIMER = 8,           /* to `wait` */
    NEVOD_EVENT_KEPT = 9,            /* to `keep`: the token is stored durably */
    NEVOD_EVENT_CANCELLED = 10       /* to any action, once: give up now. The host ignores the step's action and status */
};

NEVOD_ENUM(nevod_transport_error) {
    NEVOD_TRANSPORT_TRANSIENT = 1, /* timeout, refused, reset, unresolved: a retry may succeed */
    NEVOD_TRANSPORT_PERMANENT = 2, /* TLS verification, a malformed response, an origin that is not allowed */
    NEVOD_TRANSPORT_TOO_LARGE = 3  /* the response exceeded the host's limit */
};

/* A token that a flow issues. The host seals and stores `bytes`, which are opaque to it. */
typedef struct nevod_token {
    uint32_t struct_size;
    uint32_t reserved;
    nevod_bytes bytes;              /* 1 byte to 64 KiB; none at the end of a LOGOUT */
    int64_t expires_at_unix_ns;     /* on the clock of the call's `unix_time_ns`; 0: unknown */
    nevod_bytes account;            /* the account it belongs to, by which people tell sessions apart and the host their states;
                                       if empty, that of the token that it replaces, or unknown */
} nevod_token;

typedef struct nevod_event {
    uint32_t struct_size;
    int32_t kind;                   /* NEVOD_EVENT_… */
    /* As in nevod_view, for the origin of the flow's last response; before that, for the origin of the challenged request, or the
     * only one that the settings name. */
    int64_t unix_time_ns;
    nevod_bytes random;             /* 32 bytes, fresh for this step */
    const nevod_response *response; /* for RESPONSE; for START of a CHALLENGE flow: the response with the challenge. Else NULL */
    const nevod_token *token;       /* for START: the token to renew, use or revoke; NULL if there is none */
    const nevod_pair *answers;      /* for ANSWERS */
    uint32_t answer_count;
    int32_t transport_error;        /* for TRANSPORT_ERROR: NEVOD_TRANSPORT_… */
    nevod_bytes message;            /* for TRANSPORT_ERROR */
    nevod_bytes url;                /* for LISTENING and REDIRECT */
    nevod_bytes state;              /* for START: as in nevod_view */
    nevod_bytes account;            /* for START: the account that the user wants, as `--account` or the caller named it; may be empty */
    nevod_bytes body;               /* for REDIRECT: the body of a form that the browser posted */
    const nevod_pair *parameters;   /* for START: those of the request that needs the token, as in nevod_view; the host keeps a
                                       token for each set of them */
    uint32_t parameter_count;
    uint32_t reserved;
} nevod_event;

NEVOD_ENUM(nevod_question_kind) {
    NEVOD_QUESTION_TEXT = 1,
    NEVOD_QUESTION_SECRET = 2, /* a password: not echoed */
    NEVOD_QUESTION_CODE = 3,   /* a one-time code: echoed, never remembered */
    NEVOD_QUESTION_CHOICE = 4
};

typedef struct nevod_question {
    uint32_t struct_size;
    int32_t kind;
    nevod_bytes name;           /* in the form of a setting's name; the answer has the same name */
    nevod_bytes prompt;         /* "One-time code from your authenticator" */
    const nevod_bytes *choices; /* for a CHOICE: the answer is one of them */
    uint32_t choice_count;
    uint32_t reserved;
} nevod_question;

/* A request of a flow. The host adds Host and Content-Length, follows redirects by its own rules, and sends only to
 * origins that a setting of kind URL names, or that it read itself from the metadata of a named issuer; in a CHALLENGE flow also to the
 * origin of the challenge. */
typedef struct nevod_flow_request {
    uint32_t struct_size;
    uint32_t header_count;
    nevod_bytes method;
    nevod_bytes url;            /* absolute */
    const nevod_pair *headers;
    nevod_bytes body;
    int32_t follow_redirects;   /* 0: a redirect arrives as a response */
    uint32_t reserved;
} nevod_flow_request;

NEVOD_ENUM(nevod_listen_flags) {
    NEVOD_LISTEN_FORM_POST = 1u << 0 /* the redirect is a form that the browser posts (OAuth 2.0 Form Post Response Mode), not a GET */
};

/* A redirect URI on loopback (RFC 8252 §7.3). */
typedef struct nevod_listen {
    uint32_t struct_size;
    uint32_t flags;            /* NEVOD_LISTEN_… */
    nevod_bytes path;          /* "/callback": begins with a slash; at most NEVOD_LIMIT_PATH */
    nevod_bytes host;          /* "127.0.0.1" if empty; "[::1]", or "localhost" if the server knows no other */
    uint32_t port;             /* 0 for any free port */
    uint32_t reserved;
} nevod_listen;

/* Receives the one action of a step. A sink: good for its call. A second action in one step, or none with NEVOD_OK, is a fault.
 * To give up, call nothing and return a status: DENIED clears the token, UNAVAILABLE keeps it. If a step gives up, the host
 * ignores its action and state.
 * All functions return NEVOD_OK; or NEVOD_UNSUPPORTED if this host can't perform the action: there is no browser, nobody to answer, an
 * unknown kind of question. The step then stays open, and the flow may try another action: a passkey, then a browser, then a
 * device code. If it tries none, it ends, and the user learns what was missing. An invalid action (a URL that is none, an origin that is
 * not allowed, more than a limit) ends the flow with the host's reason and returns NEVOD_INTERNAL. */
typedef struct nevod_actions {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    int32_t (*send)(void *host, const nevod_flow_request *request);
    int32_t (*ask)(void *host, const nevod_question *const *questions, uint32_t count);
    /* Shows the user a text, and an address to open by hand; either may be empty. */
    int32_t (*show)(void *host, nevod_bytes text, nevod_bytes url);
    /* Opens a redirect URI; its event is LISTENING, or TRANSPORT_ERROR if the port is taken. */
    int32_t (*listen)(void *host, const nevod_listen *options);
    /* Opens the address in a browser and waits for the redirect. Needs `listen` first. The same address again, for the same `listen`,
     * opens nothing and waits for the next redirect: the last one may have been another program's. */
    int32_t (*browse)(void *host, nevod_bytes url);
    /* Waits. Neither this step nor the one that gets TIMER counts against NEVOD_LIMIT_FLOW_STEPS. */
    int32_t (*wait)(void *host, uint64_t nanoseconds);
    /* Stores this token now, durably; the flow continues. For rotation: an issued token must not be lost.
     * In `on_response`: stores it in place of the token that the request carried, if that is still the stored one and is not
     * being renewed. Why: if several responses each bring a next session, only one can count; and a late response must not
     * undo a login. */
    int32_t (*keep)(void *host, const nevod_token *token);
    /* Stores this token and finishes the flow. Its account may differ from the wanted one. A LOGOUT flow finishes with a token of zero
     * bytes; the host deletes the token also if it fails. */
    int32_t (*token)(void *host, const nevod_token *token);
    /* Not an action: replaces the state of this (instance, account, origin), at most 64 KiB. May be combined with an action. The
     * state of a login is for all origins, and for the account of the token that the login ends with.
     * In `on_response` of a scheme that needs the state, it takes effect only while the state is still the one in the request's
     * view, but returns NEVOD_OK in any case. Why: if several requests are challenged at once, the nonce of the first response
     * is kept and serves them all, and a late response can't bring back an old nonce.
     * The host may lose a state at any time, at the latest when the process ends: data that must last, such as a key, belongs
     * in a token. */
    int32_t (*set_state)(void *host, nevod_bytes state);
} nevod_actions;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Extensions that this host offers through `get_extension` of nevod_host, by name. Each may be missing.
 *
 * Reserved names, which no host offers yet, and the structs that they will return:
 *   "nevod.tls-identity/1"        { struct_size, reserved, host; int32_t (*sign)(host, nevod_bytes key_label, nevod_bytes digest,
 *                                   const nevod_output *signature); } to sign with the key of the client's certificate
 *   "nevod.channel-binding/1"     { struct_size, reserved, host; int32_t (*get)(host, const nevod_view *request, nevod_bytes type,
 *                                   const nevod_output *data); } type: "tls-exporter" (RFC 9266), "tls-server-end-point" (RFC 5929)
 *   "nevod.connection-affinity/1" { struct_size, reserved, host; int32_t (*hold)(host, const nevod_view *request); } to send the next
 *                                   attempt of this request over the same connection (NTLM, Negotiate) */

/* "nevod.public-suffix/1". Public suffixes are domains under which anybody can register one, such as com and co.uk
 * (publicsuffix.org). No cookie may be set for all of such a domain (RFC 6265 §5.3 step 5).
 * Why the host has it: the list is large, changes often, and is updated with the host's system. */
typedef struct nevod_public_suffix {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* domain: lower case, an international name in its ASCII form, without a leading dot.
     * Returns 1 for a public suffix, for an unlisted name without a dot, and for an invalid name; 0 for any other domain.
     * Thread: any, concurrently. Can't fail. */
    int32_t (*is_public)(void *host, nevod_bytes domain);
} nevod_public_suffix;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Offered by a plugin.                                                                                              */

NEVOD_ENUM(nevod_scheme_flags) {
    NEVOD_SCHEME_BLOCKS = 1u << 0,            /* its functions may wait or take long: see Blocking above */
    NEVOD_SCHEME_INTERACTIVE = 1u << 16,      /* its login asks a person */
    NEVOD_SCHEME_NONDETERMINISTIC = 1u << 17  /* the same view gives a different result each time */
};

/* Results of `on_response`. */
NEVOD_ENUM(nevod_verdict) {
    NEVOD_VERDICT_NOTHING = 0,
    NEVOD_VERDICT_STATE_CHANGED = 1, /* continue; the next request will use the new state */
    NEVOD_VERDICT_RETRY_ONCE = 2,    /* for a challenge: the state has changed so that the same request would now succeed. The host
                                        sends it again, once for each request; a second time it counts as STATE_CHANGED, as it does
                                        for a response that is no challenge */
    NEVOD_VERDICT_CHALLENGE = 3,     /* for a challenge: the token is refused. Run a CHALLENGE flow, once for all requests that
                                        carried it, or a LOGIN flow if there is no CHALLENGE flow; then retry. At most
                                        NEVOD_LIMIT_CHALLENGES for one request. A scheme with several legs (SCRAM, Negotiate) sends
                                        them in that flow, or is challenged once for each */
    NEVOD_VERDICT_REFUSE = 4         /* the response can't be trusted: the request fails with the reported reason, and its body doesn't
                                        reach the caller (a caller that reads a stream gets the reason in place of its end); the
                                        state and token of the call are dropped */
};

/* What the host does after a response. A challenge is a 401, a 403, or a response whose status or media type `needs` names; from
 * a proxy, a 407 and nothing else.
 *
 *   verdict                   on a challenge                            on any other response
 *   NOTHING, STATE_CHANGED,   401 and 407, of a scheme with flows: a    the response goes on: redirects are followed, and the
 *   or not asked              REFRESH, once for all requests that       caller gets the rest
 *                             carried the token, or a LOGIN if there
 *                             is none; then the request is sent again,
 *                             unless its token was this fresh already.
 *                             Other statuses: as in the next column
 *   RETRY_ONCE                sent again; the second time as NOTHING    as STATE_CHANGED
 *   CHALLENGE                 a CHALLENGE flow, or a LOGIN if there     as NOTHING
 *                             is none; then sent again
 *   REFUSE                    the request fails                         the request fails
 *
 * What becomes of the token when a REFRESH or CHALLENGE flow gives up with a status:
 *   BAD_TOKEN, and            a LOGIN flow follows; the token stays until that one succeeds
 *   UNSUPPORTED in begin
 *   DENIED                    the server refuses this token for good: it is cleared, and the user has to log in
 *   all others                it stays, and the requests fail with the reason. UNAVAILABLE: trying again later makes sense.
 *                             UNSUPPORTED: this can't be done here, as a step-up without its device */
typedef struct nevod_scheme nevod_scheme;

/* Lives as long as the process: the host keeps the pointer. */
struct nevod_scheme {
    uint32_t struct_size;
    uint32_t flags;       /* NEVOD_SCHEME_… */
    void *context;        /* the author's own; the host never reads it. For languages whose functions can't capture. */
    nevod_bytes id;       /* "hmac": in the form of a setting's name */
    nevod_bytes title;    /* "HMAC request signature" */
    const nevod_setting *const *settings;
    /* Parameters that a caller may attach to a request: "scope", "resource", "acr" (RFC 6749 §3.3, 8707, 9470). Declared like settings;
     * none may be secret or relative, and a URL among them allows no origin. */
    const nevod_setting *const *parameters;
    uint32_t setting_count;
    uint32_t parameter_count;

    /* MANDATORY. Makes an instance from validated settings: those that the user gave, and the defaults.
     * Thread: any, concurrently. May block, and then blocks its caller. `values` is borrowed; copy the values that you keep, and
     * wipe secrets in `destroy`. `scheme` and `host` stay valid until `destroy` returns.
     * On NEVOD_OK `*instance` is set, to any value including NULL. On failure nothing must remain allocated. Failures: BAD_SETTINGS,
     * UNAVAILABLE (the card is not in its reader), UNSUPPORTED, INTERNAL. */
    int32_t (*create)(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **instance, const nevod_errors *errors);

    /* MANDATORY. Thread: any; after every other call on this instance has returned, and once. Must not block. Can't fail. Not called
     * for an instance that has a call which never returns, and perhaps not at the end of the process. */
    void (*destroy)(void *instance);

    /* Optional (no function or a NULL result: nothing is needed). Called once, right after `create`, on the same thread. Must not
     * block. The result is valid until `destroy`. */
    const nevod_needs *(*needs)(void *instance);

    /* Optional, both or neither. Decodes stored bytes into a live, immutable token, so that requests need not parse them. Without
     * them, `token` of the other functions is a `const nevod_token *` with the stored bytes, valid until the call returns; its
     * expiry is on the host's own clock, uncorrected.
     * Thread: any, concurrently; on NEVOD_OK `*token` is set, to any value including NULL. On failure nothing must remain
     * allocated. Failures: BAD_TOKEN, after which the host obtains another; UNAVAILABLE, INTERNAL.
     * `token_free` runs once per token, before `destroy`, on any thread. Must not block. */
    int32_t (*token_decode)(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors);
    void (*token_free)(void *instance, void *token);

    /* MANDATORY. Puts the credential on one request. `token` is NULL for a scheme whose settings are its credential, and if
     * there is no token yet.
     * Thread: any, concurrently, also with the same token. Must not block, unless NEVOD_SCHEME_BLOCKS says so.
     * Depends only on its arguments: no clock, no randomness, no file of its own. The one exception is a number that a
     * signature algorithm draws inside its library, as ECDSA does; NEVOD_SCHEME_NONDETERMINISTIC declares it.
     * Failures, after which the request is not sent: BAD_TOKEN, after which the host obtains another and calls once more;
     * UNSUPPORTED (this request can't be authorized: a streamed body, a proxy); UNAVAILABLE (the agent doesn't respond);
     * BAD_SETTINGS, INTERNAL. */
    int32_t (*authorize)(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors);

    /* Optional. Sees the response to a request that this scheme authorized, if `needs` asked for it. May call `set_state` and
     * `keep` of `actions`, and no other function of it. Returns a NEVOD_VERDICT_…, never a status; a report is the reason of
     * NEVOD_VERDICT_REFUSE, and with another verdict goes to the log.
     * `token` and `request` are those of `authorize`, except for `random` and the time; the request includes the scheme's edits. Each
     * response is shown, also a redirect that the host follows; not an interim one (1xx).
     * Thread: any, concurrently. Must not block, unless NEVOD_SCHEME_BLOCKS says so. */
    int32_t (*on_response)(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions, const nevod_errors *errors);

    /* Optional, all three or none. Calls on one flow are serial, on changing threads; different flows run concurrently.
     * Must not block, unless NEVOD_SCHEME_BLOCKS says so; `flow_free` never.
     * `flow_begin` only makes the flow; the first `flow_step` gets NEVOD_EVENT_START. `*flow` is set, to any value including NULL.
     * Failures of `flow_begin`: UNSUPPORTED, there is no flow of this kind; of both: BAD_SETTINGS; BAD_TOKEN, after which a REFRESH or
     * CHALLENGE gives way to a LOGIN; DENIED; UNAVAILABLE; INTERNAL. After a failed `flow_begin` nothing must remain allocated.
     * `flow_free` runs once per flow, before `destroy`, also if the flow has not finished. */
    int32_t (*flow_begin)(void *instance, int32_t kind, void **flow, const nevod_errors *errors);
    int32_t (*flow_step)(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors);
    void (*flow_free)(void *instance, void *flow);

    /* Optional, both or neither; for `wrap_body`. Makes the next bytes of the body that is sent out of the next `piece` of the original
     * one, of any length, and writes any number of them. `wrapping` is what `wrap_body` was given, which may be NULL. `is_last` is 1 for the last piece, which may be empty, and 0 before; after it all
     * announced bytes must have been written. Calls on one wrapping are serial, on changing threads. Must not block, unless
     * NEVOD_SCHEME_BLOCKS says so. Any failure fails the request.
     * `body_free` runs once per wrapping, before `destroy`, on any thread, also if the body was not sent. Must not block. */
    int32_t (*body_piece)(void *instance, void *wrapping, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                          const nevod_errors *errors);
    void (*body_free)(void *instance, void *wrapping);
};

/* Lives as long as the process, with everything that it points to. */
typedef struct nevod_plugin {
    uint32_t struct_size;
    uint32_t abi_major;   /* NEVOD_ABI_MAJOR */
    uint32_t abi_draft;   /* NEVOD_ABI_DRAFT */
    uint32_t abi_minor;   /* the lowest minor version that this plugin needs; 0 unless it relies on something newer */
    const nevod_scheme *const *schemes; /* at least one, ids distinct */
    uint32_t scheme_count;
    uint32_t reserved;
    nevod_bytes name;     /* "HMACAuth" */
    nevod_bytes version;  /* "1.0.0" */
    nevod_bytes vendor;
    /* Optional. Returns an extension of one of this plugin's schemes by name and revision, or NULL; valid as long as the process.
     * Thread: any, concurrently. Must not block. */
    const void *(*get_extension)(const nevod_scheme *scheme, nevod_bytes name);
} nevod_plugin;

/* The only symbol that a plugin exports; hide all others.
 * Thread: any, concurrently; called one or more times, with the same result each time, which is never freed.
 * Must not fail, and must not do any work, nor may the library's constructors: it is loaded for `inspect` too. */
#if defined(_WIN32)
#define NEVOD_EXPORT __declspec(dllexport)
#else
#define NEVOD_EXPORT __attribute__((visibility("default")))
#endif

NEVOD_EXPORT const nevod_plugin *nevod_plugin_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* NEVOD_PLUGIN_H */
