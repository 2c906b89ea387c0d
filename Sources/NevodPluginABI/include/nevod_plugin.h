/*
 * nevod_plugin.h - the whole contract between a host and an authentication scheme
 *
 * A scheme is a library that knows how to obtain a token, how to put it on an HTTP request, and how to renew it.
 * It does no I/O. The host owns the network, the storage, the clock, the randomness, the locks and the logs.
 * Everything from outside enters through arguments, so `authorize` depends on nothing but its instance, its token, the
 * state and the view. That is what makes a scheme testable, replayable, and able to run in another process unchanged.
 *
 * A minimal plugin implements: nevod_plugin_v1, and one scheme with `create`, `destroy` and `authorize`.
 *
 * RULES THAT HOLD FOR EVERY FUNCTION IN THIS FILE
 *
 *   Memory     A nevod_bytes is borrowed: what it points to is valid until the call it was passed to returns, unless
 *              the field's own comment says longer. Output goes into host *sinks*, which copy before they return. The
 *              side that allocates a block frees it; no block of memory ever changes hands.
 *   Strings    UTF-8, without a terminator or a NUL inside. An absent string has count 0; its pointer is then never read.
 *   Pointers   No pointer argument and no function in a host's table is NULL unless its comment says so.
 *   Structs    Begin with `struct_size`, set to sizeof by the side that fills them, and only grow at the end. The fields
 *              of a major version's first frozen revision are always present; a later field is read only if NEVOD_HAS
 *              is true for it. nevod_bytes and nevod_pair never change. `reserved` fields are zero.
 *   Failure    A status (NEVOD_OK or another), and before it at most one call of the error sink. A status without a
 *              report is allowed, but leaves the user without an explanation.
 *   Unwinding  Nothing crosses this boundary: no exception, no panic, no longjmp.
 *   Threads    Each function's comment names the threads it runs on. "Any, concurrently" means that calls may run at the
 *              same time on several threads: lock shared data.
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
#define NEVOD_ABI_DRAFT 2u

/* True when a struct reaches at least to the end of this field. */
#define NEVOD_HAS(pointer, type, field) \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

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
enum {
    NEVOD_OK = 0,
    NEVOD_BAD_SETTINGS = 1, /* the user must change a setting; name it as the report's subject */
    NEVOD_BAD_TOKEN = 2,    /* the stored token can't be read, or can't be used by this instance: log in again */
    NEVOD_DENIED = 3,       /* the server refused permanently: the host clears the token */
    NEVOD_UNAVAILABLE = 4,  /* a temporary failure: the host keeps the token and may retry */
    NEVOD_UNSUPPORTED = 5,  /* this scheme can't do that, for example sign a streamed body */
    NEVOD_INTERNAL = 6      /* a fault of the plugin itself, or no memory */
};

/* ---------------------------------------------------------------------------------------------------------------- */
/* Passed by the host to a plugin.                                                                                   */

/* Receives the reason why a function failed. Valid for the call it is passed to. */
typedef struct nevod_errors {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* subject: the cause, such as the name of a setting or a header; may be empty.
     * message: safe to show and to log. No secret, no user data.
     * detail:  may contain sensitive text. Shown only if a user asked for it, never logged. May be empty.
     * Only the first report of a call counts. Same thread as the call. Copies. Can't fail. */
    void (*report)(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail);
} nevod_errors;

enum { NEVOD_LOG_DEBUG = 1, NEVOD_LOG_INFO = 2, NEVOD_LOG_WARNING = 3, NEVOD_LOG_ERROR = 4 };

/* Services of the host. Valid from `create` until `destroy` of that instance returns. */
typedef struct nevod_host {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* Writes a line to the host's log. Any thread. Copies. Must not contain a secret: the host can't recognize and hide it. */
    void (*log)(void *host, int32_t level, nevod_bytes message);
    /* Returns an optional service by name and revision ("nevod.something/1"), or NULL. The result is a struct whose own
     * documentation gives its layout; valid as long as this one. Any thread.
     * Why by name: new services need no change of this file. Reserved names: nevod.tls-identity,
     * nevod.channel-binding, nevod.body-stream-sign. */
    const void *(*get_extension)(void *host, nevod_bytes name);
} nevod_host;

/* The recipient of the credential. The host chooses it once for each instance.
 * ORIGIN: the server that the request goes to; a 401 is its challenge.
 * PROXY: the proxy on the way to it; a 407 is its challenge. `authorize` then writes Proxy-Authorization and nothing else,
 * which reaches no origin. The view contains what a proxy sees: the request line in the absolute form, or, if a tunnel is
 * opened, CONNECT with host and port as authority and target; no headers and no body. There is one state for all origins. */
enum { NEVOD_TARGET_ORIGIN = 0, NEVOD_TARGET_PROXY = 1 };

/* A body of length zero is NEVOD_BODY_NONE: the two can't be told apart on the wire. */
enum { NEVOD_BODY_NONE = 0, NEVOD_BODY_BYTES = 1, NEVOD_BODY_STREAM = 2 };

#define NEVOD_LENGTH_UNKNOWN UINT64_MAX

/* A request as it will be sent, without the edits of this call. All of it is valid until the call returns.
 * Parts that a scheme did not ask for in its `needs` are absent (count 0), to save the host's time. */
typedef struct nevod_view {
    uint32_t struct_size;
    int32_t target_kind;   /* NEVOD_TARGET_… */
    nevod_bytes method;    /* as sent: "GET" */
    nevod_bytes scheme;    /* "http" or "https" */
    nevod_bytes authority; /* as in the Host header: "api.example.com", "[::1]:8443"; no default port */
    nevod_bytes target;    /* the exact request-target as on the request line: "/a%2Fb?x=1" (RFC 9112 §3.2); with a proxy
                              "http://example.com/a" or "example.com:443" */
    /* Every header line in the order of sending, Host first, repeated names repeated. Needs NEVOD_NEED_HEADERS. */
    const nevod_pair *headers;
    uint32_t header_count;
    int32_t body_kind;     /* NEVOD_BODY_… */
    uint64_t body_length;  /* bytes, or NEVOD_LENGTH_UNKNOWN */
    nevod_bytes body;      /* of NEVOD_BODY_BYTES. Needs NEVOD_NEED_BODY */
    /* name: as asked for ("sha-256"), value: the raw digest of the body, in its algorithm's length. None for
     * NEVOD_BODY_NONE. If there is a body, a digest is missing only if the body is a stream that can be read only once.
     * (A host that doesn't know an algorithm refuses the instance right after `needs`.) */
    const nevod_pair *digests;
    uint32_t digest_count;
    uint32_t attempt;      /* 1 for the first sending of a request, then 2, 3, … */
    /* Wall clock, nanoseconds since 1970-01-01T00:00:00Z, corrected for the origin's clock; >= 0. The host learns an origin's
     * clock from the Date of its responses (RFC 9110 §6.6.1), to about a second, over TLS or on loopback. It corrects up to a
     * day, and nothing for a proxy. A request that is refused with 401 or 403 while the correction changes by more than 5 s is
     * authorized again and sent once more, unless `on_response` asks for something else. */
    int64_t unix_time_ns;
    nevod_bytes random;    /* 32 bytes, fresh for this call. Needs NEVOD_NEED_RANDOM */
    /* The number of earlier uses of this token on this origin since the state changed: 0, 1, 2, …. No number occurs twice with
     * one state, even for concurrent requests. Setting the same bytes again is not a change. Needs NEVOD_NEED_USE_COUNT */
    uint64_t use_count;
    nevod_bytes state;     /* the bytes that `set_state` last kept for this (instance, account, origin). Needs NEVOD_NEED_STATE */
} nevod_view;

/* Receives the edits of `authorize`. Valid for the call. Functions copy, and return NEVOD_OK, or NEVOD_UNSUPPORTED if the
 * host refuses the edit; the whole `authorize` then fails with the host's reason, whatever the plugin returns, so a
 * plugin need not check the result.
 *
 * The host refuses: a name that is not a token (RFC 9110 §5.6.2); a value with CR, LF or NUL; more than 64 KiB for one
 * value or 256 KiB for one call; Host, Content-Length, Transfer-Encoding, Connection, Keep-Alive, Proxy-Connection, TE,
 * Upgrade, Expect, Trailer; Proxy-Authorization unless the target is a proxy, and everything else if it is.
 * Why: these decide where a request ends and which connection carries it, so they belong to the transport. */
typedef struct nevod_edits {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* Replaces every line of that name, or appends one. */
    int32_t (*set_header)(void *host, nevod_bytes name, nevod_bytes value);
    /* Appends a line. */
    int32_t (*add_header)(void *host, nevod_bytes name, nevod_bytes value);
    /* Appends name=value to the query; the host percent-encodes both; items already there stay byte for byte.
     * An item of that name that this scheme itself wrote on an earlier attempt is replaced. */
    int32_t (*add_query)(void *host, nevod_bytes name, nevod_bytes value);
    /* Adds name=value to the Cookie header (RFC 6265 §5.4), replacing the cookies of that name that the request has before
     * this call of `authorize`. Two cookies of one name, with different paths, are sent in the order in which they were added.
     * Name and value are sent as the server set them, with quotes, commas and spaces; the host refuses a control character
     * and `;` in either, `=` in the name, and an empty name. */
    int32_t (*add_cookie)(void *host, nevod_bytes name, nevod_bytes value);
} nevod_edits;

/* A server's response, as received. Valid until the call returns. */
typedef struct nevod_response {
    uint32_t struct_size;
    int32_t status;            /* 100 … 599 */
    int32_t target_kind;       /* the sender of the response: NEVOD_TARGET_… */
    uint32_t header_count;
    const nevod_pair *headers; /* every line in order, nothing merged: all of WWW-Authenticate, all of Set-Cookie */
    nevod_bytes body;          /* in a flow, at most 1 MiB of it; empty in `on_response` */
    nevod_bytes url;           /* the URL of the response, after the redirects that the host followed */
} nevod_response;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Settings. Declared by the scheme, validated by the host: a scheme never parses a user's input.                     */

enum {
    NEVOD_SETTING_TEXT = 1,
    NEVOD_SETTING_INTEGER = 2, /* arrives as decimal digits with an optional minus; fits int64_t */
    NEVOD_SETTING_BOOLEAN = 3, /* arrives as "true" or "false" */
    NEVOD_SETTING_CHOICE = 4,  /* arrives as one of `choices` */
    NEVOD_SETTING_URL = 5      /* arrives as an absolute http or https URL; a flow may send to its origin */
};

enum {
    NEVOD_SETTING_REQUIRED = 1u << 0,  /* the host refuses a `create` without it; an empty text is a value */
    NEVOD_SETTING_SECRET = 1u << 1,    /* never taken from a command line, never shown, wiped after `create` */
    NEVOD_SETTING_REPEATABLE = 1u << 2, /* may be given several times; arrives as several pairs, in order */
    /* For a URL: an issuer (RFC 8414 §2). After a flow has fetched its metadata document from one of the two well-known
     * addresses, and if the document names this issuer, a flow may send to the endpoints that the document names. */
    NEVOD_SETTING_ISSUER = 1u << 3
};

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

enum {
    NEVOD_NEED_BODY = 1u << 0,
    NEVOD_NEED_HEADERS = 1u << 1,
    NEVOD_NEED_RESPONSES = 1u << 2, /* `on_response` for 401, or if the target is a proxy, for 407 */
    NEVOD_NEED_SUCCESSES = 1u << 3, /* `on_response` for every other status too; not from a proxy */
    NEVOD_NEED_RANDOM = 1u << 4,
    NEVOD_NEED_STATE = 1u << 5,
    NEVOD_NEED_USE_COUNT = 1u << 6
};

typedef struct nevod_needs {
    uint32_t struct_size;
    uint32_t flags;
    /* Digests of the body, by their names in the registry of RFC 9530: "sha-256", "sha-512"; also "sha-384". */
    const nevod_bytes *digests;
    uint32_t digest_count;
    uint32_t reserved;
} nevod_needs;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Flows obtain, renew and revoke tokens. A flow is a state machine without I/O: the host passes it an event, and it   */
/* responds with exactly one action. This mechanism supports an API key (the first action is `token`), a cookie login, */
/* every grant of OAuth 2, a device code with polling, Digest, and second factors.                                     */

enum {
    NEVOD_FLOW_LOGIN = 1,
    NEVOD_FLOW_REFRESH = 2,   /* a token is expired, or a server rejected it */
    NEVOD_FLOW_CHALLENGE = 3, /* `on_response` returned NEVOD_VERDICT_CHALLENGE, for a 401, a 407 or a similar response */
    NEVOD_FLOW_LOGOUT = 4
};

enum {
    NEVOD_EVENT_START = 1,
    NEVOD_EVENT_RESPONSE = 2,        /* to `send`: `response` */
    NEVOD_EVENT_TRANSPORT_ERROR = 3, /* to `send`, or `listen`: `message`; `transport_error` says whether a retry may succeed */
    NEVOD_EVENT_ANSWERS = 4,         /* to `ask`: `answers`, by the questions' names */
    NEVOD_EVENT_SHOWN = 5,           /* to `show` */
    NEVOD_EVENT_LISTENING = 6,       /* to `listen`: `url` is the redirect URI */
    NEVOD_EVENT_REDIRECT = 7,        /* to `browse`: `url` was requested at the redirect URI. Any program on the machine may have
                                        sent it: check its proof, such as `state`. If it has none, `browse` again */
    NEVOD_EVENT_TIMER = 8,           /* to `wait` */
    NEVOD_EVENT_KEPT = 9,            /* to `keep`: the token is stored durably */
    NEVOD_EVENT_CANCELLED = 10       /* to any action, once: give up now. The host ignores the step's action and status */
};

enum {
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
    const nevod_response *response; /* for RESPONSE; for START of a CHALLENGE flow: the response with the challenge */
    const nevod_token *token;       /* for START: the token to renew, use or revoke; NULL if there is none */
    const nevod_pair *answers;      /* for ANSWERS */
    uint32_t answer_count;
    int32_t transport_error;        /* for TRANSPORT_ERROR: NEVOD_TRANSPORT_… */
    nevod_bytes message;            /* for TRANSPORT_ERROR */
    nevod_bytes url;                /* for LISTENING and REDIRECT */
    nevod_bytes state;              /* for START: as in nevod_view */
} nevod_event;

enum {
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
    const nevod_bytes *choices;
    uint32_t choice_count;
    uint32_t reserved;
} nevod_question;

/* A request of a flow. The host adds Host and Content-Length, follows redirects by its own rules, and sends only to
 * origins that a setting of kind URL names, or that it read itself from the metadata of a named issuer. */
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

/* Receives the one action of a step. Valid for the call. A second action in one step, or none with NEVOD_OK, is a fault.
 * To give up, call nothing and return a status: DENIED clears the token, UNAVAILABLE keeps it. If a step gives up, the host
 * ignores its action and state.
 * All functions copy and return NEVOD_OK, or NEVOD_UNSUPPORTED if the host can't perform the action, which ends the flow. */
typedef struct nevod_actions {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    int32_t (*send)(void *host, const nevod_flow_request *request);
    int32_t (*ask)(void *host, const nevod_question *const *questions, uint32_t count);
    /* Shows the user a text, and an address to open by hand; either may be empty. */
    int32_t (*show)(void *host, nevod_bytes text, nevod_bytes url);
    /* Opens a redirect URI on loopback with this path; its event is LISTENING (RFC 8252 §7.3). */
    int32_t (*listen)(void *host, nevod_bytes path);
    /* Opens the address in a browser and waits for the redirect. Needs `listen` first. */
    int32_t (*browse)(void *host, nevod_bytes url);
    int32_t (*wait)(void *host, uint64_t nanoseconds);
    /* Stores this token now, durably; the flow continues. For rotation: an issued token must not be lost.
     * In `on_response`: stores it in place of the token that the request carried, if that is still the stored one and is not
     * being renewed. Why: if several responses each bring a next session, only one can count; and a late response must not
     * undo a login. */
    int32_t (*keep)(void *host, const nevod_token *token);
    /* Stores this token and finishes the flow. A LOGOUT flow finishes with a token of zero bytes. */
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
/* Extensions that this host offers through `get_extension` of nevod_host, by name. Each may be missing.               */

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

enum {
    NEVOD_SCHEME_INTERACTIVE = 1u << 0,      /* its login asks a person */
    NEVOD_SCHEME_NONDETERMINISTIC = 1u << 1, /* the same view gives a different result each time */
    NEVOD_SCHEME_BLOCKS = 1u << 2            /* `authorize` may take longer than a millisecond: a smart card, a KDF */
};

/* Results of `on_response`. */
enum {
    NEVOD_VERDICT_NOTHING = 0,
    NEVOD_VERDICT_STATE_CHANGED = 1, /* continue; the next request will use the new state */
    NEVOD_VERDICT_RETRY_ONCE = 2,    /* the state has changed so that the same request would now succeed */
    NEVOD_VERDICT_CHALLENGE = 3      /* the token is refused: run a CHALLENGE flow, once for all requests that carried it, or a
                                        LOGIN flow if there is no CHALLENGE flow; then retry */
};

typedef struct nevod_scheme nevod_scheme;

/* Lives as long as the process: the host keeps the pointer. */
struct nevod_scheme {
    uint32_t struct_size;
    uint32_t flags;       /* NEVOD_SCHEME_… */
    void *context;        /* the author's own; the host never reads it. For languages whose functions can't capture. */
    nevod_bytes id;       /* "hmac": in the form of a setting's name */
    nevod_bytes title;    /* "HMAC request signature" */
    const nevod_setting *const *settings;
    uint32_t setting_count;
    uint32_t reserved;

    /* MANDATORY. Makes an instance from validated settings: those that the user gave, and the defaults.
     * Thread: any, concurrently. `values` is borrowed; copy the values that you keep, and wipe secrets in `destroy`.
     * On NEVOD_OK `*instance` is set, to any value including NULL. On failure nothing must remain allocated. */
    int32_t (*create)(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **instance, const nevod_errors *errors);

    /* MANDATORY. Thread: any; after every other call on this instance has returned, and once. Can't fail. */
    void (*destroy)(void *instance);

    /* Optional (no function or a NULL result: nothing is needed). Called once, right after `create`, on the same thread.
     * The result is valid until `destroy`. */
    const nevod_needs *(*needs)(void *instance);

    /* Optional, both or neither. Decodes stored bytes into a live, immutable token, so that requests need not parse them.
     * Thread: any, concurrently. `token_free` runs once per token, before `destroy`. */
    int32_t (*token_decode)(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors);
    void (*token_free)(void *instance, void *token);

    /* MANDATORY. Puts the credential on one request. `token` is NULL for a scheme whose settings are its credential.
     * Thread: any, concurrently, also with the same token. Must not block unless NEVOD_SCHEME_BLOCKS says so.
     * Depends only on its arguments: no clock, no randomness, no file of its own. The one exception is a number that a
     * signature algorithm draws inside its library, as ECDSA does; NEVOD_SCHEME_NONDETERMINISTIC declares it. */
    int32_t (*authorize)(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors);

    /* Optional. Sees the response to a request that this scheme authorized, if `needs` asked for it. May call `set_state` and
     * `keep` of `actions`, and no other function of it. Returns a NEVOD_VERDICT_…, never a status.
     * `token` and `request` are those of `authorize`, except for `random` and the time; the headers include the scheme's edits.
     * Thread: any, concurrently. */
    int32_t (*on_response)(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions);

    /* Optional, all three or none. Calls on one flow are serial, on changing threads; different flows run concurrently.
     * `flow_begin` only makes the flow; the first `flow_step` gets NEVOD_EVENT_START. `flow_free` runs once per flow, before
     * `destroy`, also if the flow has not finished. */
    int32_t (*flow_begin)(void *instance, int32_t kind, void **flow, const nevod_errors *errors);
    int32_t (*flow_step)(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                         const nevod_errors *errors);
    void (*flow_free)(void *instance, void *flow);
};

typedef struct nevod_plugin {
    uint32_t struct_size;
    uint32_t abi_major;   /* NEVOD_ABI_MAJOR */
    uint32_t abi_draft;   /* NEVOD_ABI_DRAFT */
    uint32_t scheme_count;
    const nevod_scheme *const *schemes; /* at least one, ids distinct */
    nevod_bytes name;     /* "HMACAuth" */
    nevod_bytes version;  /* "1.0.0" */
    nevod_bytes vendor;
    /* Optional. Returns an extension of this plugin by name and revision, or NULL. Thread: any. */
    const void *(*get_extension)(nevod_bytes name);
} nevod_plugin;

/* The only symbol that a plugin exports; hide all others.
 * Thread: any; called one or more times, with the same result each time, which is never freed.
 * Must not fail, and must not do any work: it is called for `inspect` too. */
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
