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
 *              the field's own comment says longer. Output goes into host *sinks*, which copy before they return. Who
 *              allocates frees; no block of memory ever changes hands.
 *   Strings    UTF-8, no terminator, no NUL inside. An absent string has count 0; its pointer is then never read.
 *   Pointers   No pointer argument and no function in a host's table is NULL unless its comment says so.
 *   Structs    Begin with `struct_size`, set to sizeof by whoever fills them, and only grow at the end. The fields of a
 *              major version's first frozen revision are always there; a later one is looked at only when NEVOD_HAS says
 *              it is. nevod_bytes and nevod_pair never change. `reserved` fields are zero.
 *   Failure    A status (NEVOD_OK or another), and before it at most one call of the error sink. A status without a
 *              report is allowed and costs the user a good message.
 *   Unwinding  Nothing crosses this boundary: no exception, no panic, no longjmp.
 *   Threads    Each function says on which threads it runs. "Any, concurrently" means just that: lock what you share.
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

/* A status. They tell apart what the host must do next. A value outside this list is a fault of the plugin. */
enum {
    NEVOD_OK = 0,
    NEVOD_BAD_SETTINGS = 1, /* the user must change a setting; name it as the report's subject */
    NEVOD_BAD_TOKEN = 2,    /* the stored token can't be read, or can't be used by this instance: log in again */
    NEVOD_DENIED = 3,       /* the server refused for good: the host clears the token */
    NEVOD_UNAVAILABLE = 4,  /* a passing failure: the host keeps the token and may try again */
    NEVOD_UNSUPPORTED = 5,  /* this scheme can't do that, for example sign a body that is a stream */
    NEVOD_INTERNAL = 6      /* a fault of the plugin itself, or no memory */
};

/* ---------------------------------------------------------------------------------------------------------------- */
/* What the host hands to a plugin.                                                                                  */

/* Where a function reports why it failed. Valid for the call it is passed to. */
typedef struct nevod_errors {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* subject: what is to blame, a setting's or a header's name; may be empty.
     * message: safe to show and to log. No secret, no user data.
     * detail:  may hold sensitive text. Shown only where a user asked for it, never logged. May be empty.
     * Only the first report of a call counts. Same thread as the call. Copies. Can't fail. */
    void (*report)(void *host, nevod_bytes subject, nevod_bytes message, nevod_bytes detail);
} nevod_errors;

enum { NEVOD_LOG_DEBUG = 1, NEVOD_LOG_INFO = 2, NEVOD_LOG_WARNING = 3, NEVOD_LOG_ERROR = 4 };

/* Services of the host. Valid from `create` until `destroy` of that instance returns. */
typedef struct nevod_host {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* One line for the host's log. Any thread. Copies. Never put a secret in it: the host can't know it for one. */
    void (*log)(void *host, int32_t level, nevod_bytes message);
    /* An optional service by name and revision ("nevod.something/1"), or NULL. The answer is a struct whose own
     * documentation gives its shape; valid as long as this one. Any thread.
     * Why by name: a new service is then no change of this file. Reserved names: nevod.tls-identity,
     * nevod.channel-binding, nevod.body-stream-sign. */
    const void *(*get_extension)(void *host, nevod_bytes name);
} nevod_host;

/* Whom the credential is for. The host decides it once, for an instance.
 * ORIGIN: the server that the request goes to; a 401 is its challenge.
 * PROXY: the proxy on the way to it; a 407 is its challenge. `authorize` then writes Proxy-Authorization and nothing else,
 * which reaches no origin. The view holds what a proxy sees: the request line in the absolute form, or, where a tunnel is
 * opened, CONNECT with host and port as authority and target; no headers and no body. There is one state for all origins. */
enum { NEVOD_TARGET_ORIGIN = 0, NEVOD_TARGET_PROXY = 1 };

/* A body of length zero is NEVOD_BODY_NONE: the two can't be told apart on the wire. */
enum { NEVOD_BODY_NONE = 0, NEVOD_BODY_BYTES = 1, NEVOD_BODY_STREAM = 2 };

#define NEVOD_LENGTH_UNKNOWN UINT64_MAX

/* A request as it will be sent, minus what this call adds. All of it is valid until the call returns.
 * What a scheme did not ask for in its `needs` is absent (count 0): the host does not spend time on it. */
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
    /* name: as asked for ("sha-256"), value: the raw digest of the body, as long as its algorithm's digests are. None for
     * NEVOD_BODY_NONE. With a body a digest is missing for one reason: the body is a stream that can be read only once.
     * (A host that doesn't know an algorithm says so right after `needs`.) */
    const nevod_pair *digests;
    uint32_t digest_count;
    uint32_t attempt;      /* 1 for the first sending of a request, then 2, 3, … */
    int64_t unix_time_ns;  /* wall clock, nanoseconds since 1970-01-01T00:00:00Z, corrected for the server's clock; >= 0 */
    nevod_bytes random;    /* 32 bytes, fresh for this call. Needs NEVOD_NEED_RANDOM */
    /* How often this token was used before on this origin since the state changed: 0, 1, 2, …, and no number twice with one
     * state, however many requests are made at once. Setting the same bytes again is no change. Needs NEVOD_NEED_USE_COUNT */
    uint64_t use_count;
    nevod_bytes state;     /* what `set_state` last kept for this (instance, account, origin). Needs NEVOD_NEED_STATE */
} nevod_view;

/* Where `authorize` writes. Valid for the call. Functions copy, and return NEVOD_OK or NEVOD_UNSUPPORTED when the host
 * refuses the edit; the whole `authorize` then fails with the host's reason, whatever the plugin returns, so a
 * plugin need not look at the result.
 *
 * The host refuses: a name that is no token (RFC 9110 §5.6.2); a value with CR, LF or NUL; more than 64 KiB for one
 * value or 256 KiB for one call; Host, Content-Length, Transfer-Encoding, Connection, Keep-Alive, Proxy-Connection, TE,
 * Upgrade, Expect, Trailer; Proxy-Authorization unless the target is a proxy, and everything else if it is.
 * Why: these decide where a request ends and who reads it, so they belong to the transport. */
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
     * this call of `authorize`. Two of one name, of different paths, go in the order in which they were added.
     * Name and value are what a server set, with quotes, commas and spaces; the host refuses a control character and `;`
     * in either, `=` in the name, and an empty name. */
    int32_t (*add_cookie)(void *host, nevod_bytes name, nevod_bytes value);
} nevod_edits;

/* An answer of a server, as received. Valid until the call returns. */
typedef struct nevod_response {
    uint32_t struct_size;
    int32_t status;            /* 100 … 599 */
    int32_t target_kind;       /* who answered: NEVOD_TARGET_… */
    uint32_t header_count;
    const nevod_pair *headers; /* every line in order, nothing merged: all of WWW-Authenticate, all of Set-Cookie */
    nevod_bytes body;          /* in a flow, at most 1 MiB of it; empty in `on_response` */
    nevod_bytes url;           /* what answered, after the redirects that the host followed */
} nevod_response;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Settings. Declared by the scheme, validated by the host: a scheme never parses what a user typed.                  */

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
    /* Of a URL: an issuer (RFC 8414 §2). When a flow has fetched its metadata document, from one of the two well-known
     * addresses, and the document says that it is this issuer's, a flow may send to the endpoints that it names. */
    NEVOD_SETTING_ISSUER = 1u << 3
};

typedef struct nevod_setting {
    uint32_t struct_size;
    int32_t kind;              /* NEVOD_SETTING_TEXT … */
    uint32_t flags;            /* NEVOD_SETTING_REQUIRED | … */
    uint32_t choice_count;
    const nevod_bytes *choices; /* of a CHOICE */
    nevod_bytes name;          /* "api-key": a-z, 0-9 and '-', beginning with a letter, at most 64 bytes */
    nevod_bytes default_value; /* what arrives when the user gives none; empty: nothing arrives */
    nevod_bytes help;          /* one line, no full stop */
} nevod_setting;

/* ---------------------------------------------------------------------------------------------------------------- */
/* What an instance asks of the host.                                                                                */

enum {
    NEVOD_NEED_BODY = 1u << 0,
    NEVOD_NEED_HEADERS = 1u << 1,
    NEVOD_NEED_RESPONSES = 1u << 2, /* `on_response` for 401, or, if the target is a proxy, for 407 */
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
/* Flows: how a token is obtained, renewed and given back. A flow is a state machine without I/O. The host hands it   */
/* an event; it answers with exactly one action. That one mechanism carries an API key (the first action is `token`),  */
/* a cookie login, every grant of OAuth 2, a device code with polling, Digest, and second factors.                     */

enum {
    NEVOD_FLOW_LOGIN = 1,
    NEVOD_FLOW_REFRESH = 2,   /* a token is expired, or a server rejected it */
    NEVOD_FLOW_CHALLENGE = 3, /* an answer that `on_response` asked to meet with a flow: a 401 or 407, or what it takes for one */
    NEVOD_FLOW_LOGOUT = 4
};

enum {
    NEVOD_EVENT_START = 1,
    NEVOD_EVENT_RESPONSE = 2,        /* to `send`: `response` */
    NEVOD_EVENT_TRANSPORT_ERROR = 3, /* to `send`, or `listen`: `message`; `transport_error` says whether it may pass */
    NEVOD_EVENT_ANSWERS = 4,         /* to `ask`: `answers`, by the questions' names */
    NEVOD_EVENT_SHOWN = 5,           /* to `show` */
    NEVOD_EVENT_LISTENING = 6,       /* to `listen`: `url` is the redirect URI */
    NEVOD_EVENT_REDIRECT = 7,        /* to `browse`: `url` is what arrived at the redirect URI. Anybody on the machine may have
                                        sent it: look at what it proves. One that proves nothing: `browse` again */
    NEVOD_EVENT_TIMER = 8,           /* to `wait` */
    NEVOD_EVENT_KEPT = 9,            /* to `keep`: the token is stored durably */
    NEVOD_EVENT_CANCELLED = 10       /* to anything, once: give up now. What the step answers is not looked at */
};

enum {
    NEVOD_TRANSPORT_TRANSIENT = 1, /* time-out, refused, reset, unresolved: may pass */
    NEVOD_TRANSPORT_PERMANENT = 2, /* TLS verification, a malformed answer, an origin that is not allowed */
    NEVOD_TRANSPORT_TOO_LARGE = 3  /* the answer passed the host's limit */
};

/* What a flow produced. The host seals and stores `bytes`, and never looks into them. */
typedef struct nevod_token {
    uint32_t struct_size;
    uint32_t reserved;
    nevod_bytes bytes;              /* 1 byte to 64 KiB; none at the end of a LOGOUT */
    int64_t expires_at_unix_ns;     /* 0: unknown */
    nevod_bytes account;            /* whom it belongs to, for people to tell sessions apart and the host to tell their states
                                       apart; may be empty: nobody knows, or as with the token that it replaces */
} nevod_token;

typedef struct nevod_event {
    uint32_t struct_size;
    int32_t kind;                   /* NEVOD_EVENT_… */
    int64_t unix_time_ns;           /* as in nevod_view */
    nevod_bytes random;             /* 32 bytes, fresh for this step */
    const nevod_response *response; /* of RESPONSE; of START in a CHALLENGE flow: what was answered */
    const nevod_token *token;       /* of START: the token to renew, to use or to give back; NULL without one */
    const nevod_pair *answers;      /* of ANSWERS */
    uint32_t answer_count;
    int32_t transport_error;        /* of TRANSPORT_ERROR: NEVOD_TRANSPORT_… */
    nevod_bytes message;            /* of TRANSPORT_ERROR */
    nevod_bytes url;                /* of LISTENING and REDIRECT */
    nevod_bytes state;              /* of START: as in nevod_view */
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
    nevod_bytes name;           /* as a setting's name; the answer's name */
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
    int32_t follow_redirects;   /* 0: a redirect is handed over as a response */
    uint32_t reserved;
} nevod_flow_request;

/* Where a step puts its one action. Valid for the call. A second action in one step, or none with NEVOD_OK, is a fault.
 * To give up, call nothing and return a status: DENIED clears the token, UNAVAILABLE keeps it. Of a step that gives up nothing
 * is taken, no state either.
 * All functions copy and return NEVOD_OK, or NEVOD_UNSUPPORTED when the host can't do it, which ends the flow. */
typedef struct nevod_actions {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    int32_t (*send)(void *host, const nevod_flow_request *request);
    int32_t (*ask)(void *host, const nevod_question *const *questions, uint32_t count);
    /* Text for the user, with an address they should open by hand; either may be empty. */
    int32_t (*show)(void *host, nevod_bytes text, nevod_bytes url);
    /* The host opens a redirect URI on loopback with this path and answers with LISTENING (RFC 8252 §7.3). */
    int32_t (*listen)(void *host, nevod_bytes path);
    /* Opens the address in a browser and waits for the redirect. After `listen`. */
    int32_t (*browse)(void *host, nevod_bytes url);
    int32_t (*wait)(void *host, uint64_t nanoseconds);
    /* Stores this token now, durably, then goes on. For rotation: what has been issued must not be lost.
     * In `on_response`: stores it in place of the token that the request carried, if that is still the stored one and is not
     * being renewed. Why: many answers may each bring a next session, and one of them has to count; and an answer that comes
     * late must not undo a login. */
    int32_t (*keep)(void *host, const nevod_token *token);
    /* Stores this token; the flow is done. A LOGOUT flow is done with a token of zero bytes. */
    int32_t (*token)(void *host, const nevod_token *token);
    /* No action: replaces the state of this (instance, account, origin), at most 64 KiB. May stand beside an action. A login's
     * is of all origins, and of the account of the token that it ends with.
     * In `on_response` of a scheme that needs the state, it takes effect only while the state is still the one in the request's
     * view; NEVOD_OK is returned all the same. Why: of many requests that are challenged at once, the first answer's nonce is
     * kept and serves them all, and a late answer brings no old nonce back.
     * A state may be gone at any time, with the process at the latest: what must last, a key for instance, belongs in a token. */
    int32_t (*set_state)(void *host, nevod_bytes state);
} nevod_actions;

/* ---------------------------------------------------------------------------------------------------------------- */
/* Extensions that this host offers: what `get_extension` of nevod_host answers, by name. Each may be missing.         */

/* "nevod.public-suffix/1". The domains under which anybody can register one, such as com and co.uk (publicsuffix.org): no
 * cookie may be set for all of such a domain (RFC 6265 §5.3 step 5).
 * Why the host's: the list is large, changes often, and comes with the system that the host is updated with. */
typedef struct nevod_public_suffix {
    uint32_t struct_size;
    uint32_t reserved;
    void *host;
    /* domain: lower case, an international name in its ASCII form, without a leading dot.
     * Returns 1 for a public suffix, also for a name without a dot that the list doesn't know, and for what is no name;
     * 0 for any other domain. Thread: any, concurrently. Can't fail. */
    int32_t (*is_public)(void *host, nevod_bytes domain);
} nevod_public_suffix;

/* ---------------------------------------------------------------------------------------------------------------- */
/* What a plugin offers.                                                                                             */

enum {
    NEVOD_SCHEME_INTERACTIVE = 1u << 0,      /* its login asks a person */
    NEVOD_SCHEME_NONDETERMINISTIC = 1u << 1, /* the same view gives another result each time */
    NEVOD_SCHEME_BLOCKS = 1u << 2            /* `authorize` may take longer than a millisecond: a smart card, a KDF */
};

/* What `on_response` decided. */
enum {
    NEVOD_VERDICT_NOTHING = 0,
    NEVOD_VERDICT_STATE_CHANGED = 1, /* go on; the next request will use the new state */
    NEVOD_VERDICT_RETRY_ONCE = 2,    /* the state has changed such that the same request would now pass */
    NEVOD_VERDICT_CHALLENGE = 3      /* the token is refused: run a CHALLENGE flow, once for all requests that carried it, or a
                                        LOGIN where there is none; then retry */
};

typedef struct nevod_scheme nevod_scheme;

/* Lives as long as the process: the host keeps the pointer. */
struct nevod_scheme {
    uint32_t struct_size;
    uint32_t flags;       /* NEVOD_SCHEME_… */
    void *context;        /* the author's own; the host never reads it. For languages whose functions can't capture. */
    nevod_bytes id;       /* "hmac": as a setting's name */
    nevod_bytes title;    /* "HMAC request signature" */
    const nevod_setting *const *settings;
    uint32_t setting_count;
    uint32_t reserved;

    /* MANDATORY. Makes an instance from validated settings: all that the user gave, and the defaults.
     * Thread: any, concurrently. `values` is borrowed; copy what you keep, and wipe secrets in `destroy`.
     * On NEVOD_OK `*instance` is set, and anything may be in it, NULL too. On failure nothing is left behind. */
    int32_t (*create)(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t value_count,
                      void **instance, const nevod_errors *errors);

    /* MANDATORY. Thread: any; after every other call on this instance has returned, and once. Can't fail. */
    void (*destroy)(void *instance);

    /* Optional (no function, or a NULL answer: nothing is needed). Asked once, right after `create`, on the same thread.
     * The answer is valid until `destroy`. */
    const nevod_needs *(*needs)(void *instance);

    /* Optional, both or neither. Turns stored bytes into a live, immutable token, so that no request pays for parsing.
     * Thread: any, concurrently. `token_free` runs once per token, before `destroy`. */
    int32_t (*token_decode)(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors);
    void (*token_free)(void *instance, void *token);

    /* MANDATORY. Puts the credential on one request. `token` is NULL for a scheme whose settings are its credential.
     * Thread: any, concurrently, also with the same token. Must not block unless NEVOD_SCHEME_BLOCKS says so.
     * Depends on nothing but its arguments: no clock, no randomness, no file of its own. The one exception is a number that
     * a signature algorithm draws inside its library, as ECDSA does; NEVOD_SCHEME_NONDETERMINISTIC says so. */
    int32_t (*authorize)(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                         const nevod_errors *errors);

    /* Optional. Sees the answer to a request that this scheme authorised, if `needs` asked for it. Calls `set_state` or `keep`
     * of `actions` to keep something, no other function of it. Returns a NEVOD_VERDICT_…, never a status.
     * `token` and `request` are what `authorize` had, but for `random` and the time; the headers now hold what the scheme wrote.
     * Thread: any, concurrently. */
    int32_t (*on_response)(void *instance, const void *token, const nevod_view *request, const nevod_response *response,
                           const nevod_actions *actions);

    /* Optional, all three or none. Calls on one flow are serial, on changing threads; different flows run concurrently.
     * `flow_begin` only makes the flow; the first `flow_step` gets NEVOD_EVENT_START. `flow_free` runs once per flow,
     * also in the middle of it, and before `destroy`. */
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
    /* Optional. What this plugin offers beyond this file, by name and revision, or NULL. Thread: any. */
    const void *(*get_extension)(nevod_bytes name);
} nevod_plugin;

/* The one symbol that a plugin exports; hide all others.
 * Thread: any; called at least once, perhaps more often, each time with the same answer, which is never freed.
 * Must not fail, and must not do work: it is called for `inspect` too. */
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
