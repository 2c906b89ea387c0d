// nevod_plugin.go: bindings for plugins in Go, in one file of package main without modules. Go 1.19 and newer.
//
// Copy this file beside your own, with nevod_plugin.h and exports.map, which is `{ global: nevod_plugin_v1; local: *; };`, and build:
//
//	go build -buildmode=c-shared -ldflags "-s -w -extldflags=-Wl,--version-script=$PWD/exports.map" -o libExample.so .
//
// (Go also writes a libExample.h, which nothing needs.) A scheme:
//
//	type key struct{ value []byte }
//
//	func (k *key) Authorize(request *View, token any, edits *Edits) error {
//		edits.SetHeader("X-Key", k.value)
//		return nil
//	}
//
//	var _ = Export(Plugin{Name: "Key", Version: "1.0.0", Vendor: "Example", Schemes: []Definition{{
//		ID: "key", Title: "A key in a header",
//		Settings: []Setting{{Name: "key", Help: "The key", Flags: Required | Secret}},
//		Create:   func(settings Settings, host *Host) (Scheme, error) { return &key{settings.Bytes("key")}, nil },
//	}}})
//
// A scheme with a login has Flows: true, and its instance is a FlowScheme. A flow is a function on its own goroutine, which runs
// only while the host calls, and ends with the flow. It may wait only for the methods of Flow.
//
// A panic doesn't leave the plugin: the call fails with INTERNAL, and the panic's text is the report's detail. A fault that Go
// can't recover from, such as a concurrent map write, ends the process.
//
// Go's runtime starts its threads when the library is loaded, and moves and copies memory as it likes: secrets can't be wiped reliably,
// and a garbage collection may pause a call. Where that matters, write the plugin in another language.
//
// Part of NevodHost. MIT licence.
package main

/*
// Go defines the entry point. The header's declaration is renamed, because Go can't express its const result.
#define nevod_plugin_v1 nevod_plugin_v1_declared
#include "nevod_plugin.h"
#undef nevod_plugin_v1
#include <stdlib.h>
#include <string.h>

// Defined in Go below. Pointers are void *, because Go's declarations have no const.
extern int32_t nevodGoCreate(void *scheme, void *host, void *values, uint32_t count, void *out, void *errors);
extern void nevodGoDestroy(void *instance);
extern void *nevodGoNeeds(void *instance);
extern int32_t nevodGoDecode(void *instance, nevod_bytes bytes, void *out, void *errors);
extern void nevodGoFree(void *handle);
extern int32_t nevodGoAuthorize(void *instance, void *token, void *view, void *edits, void *errors);
extern int32_t nevodGoOnResponse(void *instance, void *token, void *view, void *response, void *actions, void *errors);
extern int32_t nevodGoFlowBegin(void *instance, int32_t kind, void *out, void *errors);
extern int32_t nevodGoFlowStep(void *flow, void *event, void *actions, void *errors);
extern void nevodGoFlowFree(void *flow);
extern int32_t nevodGoBodyPiece(void *wrapping, nevod_bytes piece, int32_t is_last, void *output, void *errors);

// The functions of the table, with the contract's types.
static int32_t nevod_go_create(const nevod_scheme *scheme, const nevod_host *host, const nevod_pair *values, uint32_t count,
                               void **out, const nevod_errors *errors)
{ return nevodGoCreate((void *)scheme, (void *)host, (void *)values, count, out, (void *)errors); }
static void nevod_go_destroy(void *instance) { nevodGoDestroy(instance); }
static const nevod_needs *nevod_go_needs(void *instance) { return nevodGoNeeds(instance); }
static int32_t nevod_go_decode(void *instance, nevod_bytes bytes, void **token, const nevod_errors *errors)
{ return nevodGoDecode(instance, bytes, token, (void *)errors); }
static void nevod_go_token_free(void *instance, void *token) { (void)instance; nevodGoFree(token); }
static int32_t nevod_go_authorize(void *instance, const void *token, const nevod_view *view, const nevod_edits *edits,
                                  const nevod_errors *errors)
{ return nevodGoAuthorize(instance, (void *)token, (void *)view, (void *)edits, (void *)errors); }
static int32_t nevod_go_on_response(void *instance, const void *token, const nevod_view *view, const nevod_response *response,
                                    const nevod_actions *actions, const nevod_errors *errors)
{ return nevodGoOnResponse(instance, (void *)token, (void *)view, (void *)response, (void *)actions, (void *)errors); }
static int32_t nevod_go_flow_begin(void *instance, int32_t kind, void **flow, const nevod_errors *errors)
{ return nevodGoFlowBegin(instance, kind, flow, (void *)errors); }
static int32_t nevod_go_flow_step(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                                  const nevod_errors *errors)
{ (void)instance; return nevodGoFlowStep(flow, (void *)event, (void *)actions, (void *)errors); }
static void nevod_go_flow_free(void *instance, void *flow) { (void)instance; nevodGoFlowFree(flow); }
static int32_t nevod_go_body_piece(void *instance, void *wrapping, nevod_bytes piece, int32_t is_last, const nevod_output *output,
                                   const nevod_errors *errors)
{ (void)instance; return nevodGoBodyPiece(wrapping, piece, is_last, (void *)output, (void *)errors); }
static void nevod_go_body_free(void *instance, void *wrapping) { (void)instance; nevodGoFree(wrapping); }

static void nevod_go_fill(nevod_scheme *scheme, int flows)
{
    scheme->create = nevod_go_create;
    scheme->destroy = nevod_go_destroy;
    scheme->needs = nevod_go_needs;
    scheme->token_decode = nevod_go_decode;
    scheme->token_free = nevod_go_token_free;
    scheme->authorize = nevod_go_authorize;
    scheme->on_response = nevod_go_on_response;
    if (flows) {
        scheme->flow_begin = nevod_go_flow_begin;
        scheme->flow_step = nevod_go_flow_step;
        scheme->flow_free = nevod_go_flow_free;
    }
    scheme->body_piece = nevod_go_body_piece;
    scheme->body_free = nevod_go_body_free;
}

// Go can't call a function pointer.
static void nevod_go_report(const nevod_errors *to, nevod_bytes subject, nevod_bytes message, nevod_bytes detail)
{ to->report(to->host, subject, message, detail); }
static void nevod_go_log(const nevod_host *to, int32_t level, nevod_bytes message) { to->log(to->host, level, message); }
static void nevod_go_set_header(const nevod_edits *to, nevod_bytes name, nevod_bytes value) { to->set_header(to->host, name, value); }
static void nevod_go_add_header(const nevod_edits *to, nevod_bytes name, nevod_bytes value) { to->add_header(to->host, name, value); }
static void nevod_go_add_query(const nevod_edits *to, nevod_bytes name, nevod_bytes value) { to->add_query(to->host, name, value); }
static void nevod_go_add_cookie(const nevod_edits *to, nevod_bytes name, nevod_bytes value) { to->add_cookie(to->host, name, value); }
static void nevod_go_replace_body(const nevod_edits *to, nevod_bytes body) { to->replace_body(to->host, body); }
static void nevod_go_wrap_body(const nevod_edits *to, uint64_t length, void *wrapping) { to->wrap_body(to->host, length, wrapping); }
static int32_t nevod_go_write(const nevod_output *to, nevod_bytes bytes) { return to->write(to->host, bytes); }
static int32_t nevod_go_send(const nevod_actions *to, const nevod_flow_request *request) { return to->send(to->host, request); }
static int32_t nevod_go_ask(const nevod_actions *to, const nevod_question *questions, uint32_t count)
{
    const nevod_question *pointers[NEVOD_LIMIT_QUESTIONS];
    if (count > NEVOD_LIMIT_QUESTIONS)
        return NEVOD_INTERNAL;
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = &questions[i];
    return to->ask(to->host, pointers, count);
}
static int32_t nevod_go_show(const nevod_actions *to, nevod_bytes text, nevod_bytes url) { return to->show(to->host, text, url); }
static int32_t nevod_go_listen(const nevod_actions *to, nevod_bytes path)
{
    const nevod_listen options = {.struct_size = sizeof options, .path = path};
    return to->listen(to->host, &options);
}
static int32_t nevod_go_browse(const nevod_actions *to, nevod_bytes url) { return to->browse(to->host, url); }
static int32_t nevod_go_wait(const nevod_actions *to, uint64_t nanoseconds) { return to->wait(to->host, nanoseconds); }
static int32_t nevod_go_token(const nevod_actions *to, int keeps, nevod_bytes bytes, int64_t expires, nevod_bytes account)
{
    const nevod_token token = {.struct_size = sizeof token, .bytes = bytes, .expires_at_unix_ns = expires, .account = account};
    return (keeps ? to->keep : to->token)(to->host, &token);
}
static void nevod_go_set_state(const nevod_actions *to, nevod_bytes state) { to->set_state(to->host, state); }
static void nevod_go_wipe(void *memory, size_t count)
{ for (volatile uint8_t *at = memory; count > 0; count--) *at++ = 0; }
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// A library needs a main function, which never runs.
func main() {}

// ---------------------------------------------------------------------------------------------------------------------
// The parts of a plugin.

// Plugin is the argument of Export.
type Plugin struct {
	Name, Version, Vendor string
	Schemes               []Definition
}

// Definition describes a scheme.
type Definition struct {
	ID, Title            string
	Flags                uint32 // Blocks, Interactive, Nondeterministic
	Settings, Parameters []Setting
	Flows                bool // the instances are FlowSchemes
	// Create makes an instance from validated settings. It may block.
	Create func(settings Settings, host *Host) (Scheme, error)
}

// Flags of a scheme.
const (
	Blocks           = 1 << 0
	Interactive      = 1 << 16
	Nondeterministic = 1 << 17
)

// Setting declares a setting of a scheme, or a parameter of a request.
type Setting struct {
	Name, Help, Default string
	Kind                int32 // Text, if it is 0
	Flags               uint32
	Choices             []string
}

// Kinds and flags of a Setting.
const (
	Text    = 1
	Integer = 2
	Boolean = 3
	Choice  = 4
	URL     = 5

	Required   = 1 << 0
	Secret     = 1 << 1
	Repeatable = 1 << 2
	Issuer     = 1 << 3
	Relative   = 1 << 4
)

// Scheme is an instance of a scheme. Its methods may be called on many threads at the same time.
type Scheme interface {
	// Authorize puts the credential on one request, and depends on its arguments only. The token is nil if there is none yet.
	Authorize(request *View, token any, edits *Edits) error
}

// FlowScheme is an instance of a scheme with Flows: true.
type FlowScheme interface {
	Scheme
	Login(flow *Flow) (*Issued, error)
}

// Further methods that an instance may have.
type (
	// Needer asks once for parts of the view and for responses.
	Needer interface{ Needs() Needs }
	// Decoder makes Authorize's token from stored bytes, which are valid during the call. Without it, a token is a []byte.
	Decoder interface {
		Decode(bytes []byte) (any, error)
	}
	// Responder sees responses that Needs asked for. An error rejects the response, with its message as the reason.
	Responder interface {
		OnResponse(request *View, token any, response *Response, replies *Replies) (Verdict, error)
	}
	// Refresher renews a token. Without it, the host logs in.
	Refresher interface {
		Refresh(flow *Flow) (*Issued, error)
	}
	// Challenger obtains a token after a challenge. Without it, the host logs in.
	Challenger interface {
		Challenge(flow *Flow) (*Issued, error)
	}
	// Logouter revokes a token.
	Logouter interface{ Logout(flow *Flow) error }
	// Closer releases what the instance holds.
	Closer interface{ Close() }
)

// Needs names the parts of the view and the responses that an instance asks for. Each costs the host time.
type Needs struct {
	Flags                    uint32
	Digests, ResponseDigests []string // "sha-256", "sha-384", "sha-512"
	ChallengeStatuses        []int32
	ChallengeTypes           []string // media types of 2xx responses: "text/html"
}

// Flags of Needs.
const (
	NeedBody           = 1 << 0
	NeedHeaders        = 1 << 1
	NeedChallenges     = 1 << 2
	NeedOtherResponses = 1 << 3
	NeedRandom         = 1 << 4
	NeedState          = 1 << 5
	NeedUseCount       = 1 << 6
	NeedChallengeBody  = 1 << 7
	NeedReplaceBody    = 1 << 8
)

// Verdict is the result of OnResponse.
type Verdict int32

// Verdicts.
const (
	Nothing      Verdict = 0
	StateChanged Verdict = 1
	RetryOnce    Verdict = 2
	RunChallenge Verdict = 3
)

// ---------------------------------------------------------------------------------------------------------------------
// Errors.

// Error says why a call fails: a status, and a text for the user.
type Error struct {
	Status  int32  // 0 counts as Internal's
	Subject string // the cause, such as the name of a setting
	Message string // must not contain secrets: it is shown and logged
	Detail  string // may be sensitive: shown only if the user asks for it
	reason  int32
}

func (e *Error) Error() string { return strings.TrimPrefix(e.Subject+": "+e.Message, ": ") }

// BadSettings means that the user must change a setting.
func BadSettings(setting, message string) error {
	return &Error{Status: C.NEVOD_BAD_SETTINGS, Subject: setting, Message: message}
}

// BadToken means that the token can't be read or used: log in again.
func BadToken(message string) error { return &Error{Status: C.NEVOD_BAD_TOKEN, Message: message} }

// Denied means that the server rejected a flow for good. The host clears the token.
func Denied(message string) error { return &Error{Status: C.NEVOD_DENIED, Message: message} }

// Unavailable means a temporary failure. The host keeps the token.
func Unavailable(message string) error { return &Error{Status: C.NEVOD_UNAVAILABLE, Message: message} }

// Unsupported means that the scheme can't do this, such as sign a streamed body.
func Unsupported(message string) error { return &Error{Status: C.NEVOD_UNSUPPORTED, Message: message} }

// Internal means a fault of the plugin itself.
func Internal(message string) error { return &Error{Status: C.NEVOD_INTERNAL, Message: message} }

const (
	reasonTransport = iota + 1
	reasonCancelled
	reasonUnsupported
)

func isReason(err error, reason int32) bool {
	var own *Error
	return errors.As(err, &own) && own.reason == reason
}

// IsTransport reports whether a flow's request got no response.
func IsTransport(err error) bool { return isReason(err, reasonTransport) }

// IsCancellation reports whether the flow was cancelled: return now.
func IsCancellation(err error) bool { return isReason(err, reasonCancelled) }

// IsUnsupported reports whether the host can't perform an action, for lack of a browser or of a user to ask. The flow may try
// another.
func IsUnsupported(err error) bool { return isReason(err, reasonUnsupported) }

// ---------------------------------------------------------------------------------------------------------------------
// Values that cross the boundary.

// Go's bytes for a call of C, which copies them. They contain no pointers, so C may see them.
func lend(bytes []byte) C.nevod_bytes {
	if len(bytes) == 0 {
		return C.nevod_bytes{}
	}
	return C.nevod_bytes{data: (*C.uint8_t)(unsafe.Pointer(&bytes[0])), count: C.uint64_t(len(bytes))}
}

func lendText(text string) C.nevod_bytes { return lend([]byte(text)) }

// The host's bytes, valid until its call returns.
func borrow(bytes C.nevod_bytes) []byte {
	if bytes.count == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(bytes.data)), int(bytes.count))
}

func text(bytes C.nevod_bytes) string { return string(borrow(bytes)) }

// Copies of the host's pairs.
func pairs(start *C.nevod_pair, count C.uint32_t) []Pair {
	if count == 0 {
		return nil
	}
	copies := make([]Pair, count)
	for i, pair := range unsafe.Slice(start, int(count)) {
		copies[i] = Pair{text(pair.name), append([]byte(nil), borrow(pair.value)...)}
	}
	return copies
}

// Pair is a name and a value: of a setting, a header line, a digest, an answer.
type Pair struct {
	Name  string
	Value []byte
}

// Settings are the validated settings of an instance, in order.
type Settings []Pair

// Bytes returns the first value of that name, or nil.
func (s Settings) Bytes(name string) []byte {
	for _, pair := range s {
		if pair.Name == name {
			return pair.Value
		}
	}
	return nil
}

// Text returns the first value of that name, or "".
func (s Settings) Text(name string) string { return string(s.Bytes(name)) }

// Host gives the host's services, until the instance is closed.
type Host struct{ raw *C.nevod_host }

// Levels of Log.
const (
	Debug   = 1
	Info    = 2
	Warning = 3
	Failure = 4
)

// Log writes a line to the host's log. It must contain no secret.
func (h *Host) Log(level int32, message string) {
	C.nevod_go_log(h.raw, C.int32_t(level), lendText(message))
}

// View is a request as it will be sent, valid until the call returns.
type View struct{ raw *C.nevod_view }

func (v *View) Method() string    { return text(v.raw.method) }
func (v *View) Scheme() string    { return text(v.raw.scheme) }    // "http" or "https"
func (v *View) Authority() string { return text(v.raw.authority) } // the Host line
func (v *View) Target() string    { return text(v.raw.target) }    // the exact request-target: "/a%2Fb?x=1"
func (v *View) IsProxy() bool     { return v.raw.target_kind != C.NEVOD_TARGET_ORIGIN }
func (v *View) HasBody() bool     { return v.raw.body_kind != C.NEVOD_BODY_NONE }
func (v *View) IsStream() bool    { return v.raw.body_kind == C.NEVOD_BODY_STREAM }
func (v *View) Attempt() uint32   { return uint32(v.raw.attempt) }
func (v *View) UseCount() uint64  { return uint64(v.raw.use_count) }

// Headers returns every line in order. Needs NeedHeaders.
func (v *View) Headers() []Pair { return pairs(v.raw.headers, v.raw.header_count) }

// Body returns the body without a copy: it is valid until the call returns. Needs NeedBody.
func (v *View) Body() []byte { return borrow(v.raw.body) }

// Digest returns the raw digest of the body, or nil. Needs Digests.
func (v *View) Digest(name string) []byte {
	return Settings(pairs(v.raw.digests, v.raw.digest_count)).Bytes(name)
}

// Time is corrected for the server's clock.
func (v *View) Time() time.Time { return time.Unix(0, int64(v.raw.unix_time_ns)).UTC() }

// Random returns 32 fresh bytes. Needs NeedRandom.
func (v *View) Random() []byte { return append([]byte(nil), borrow(v.raw.random)...) }

// State returns the bytes that SetState last kept. Needs NeedState.
func (v *View) State() []byte { return append([]byte(nil), borrow(v.raw.state)...) }

// Parameters returns the declared parameters that the caller attached to the request.
func (v *View) Parameters() Settings { return pairs(v.raw.parameters, v.raw.parameter_count) }

// Edits are changes to the request. If the host refuses one, it fails the call itself.
type Edits struct{ raw *C.nevod_edits }

// SetHeader replaces every line of that name, or appends one.
func (e *Edits) SetHeader(name string, value []byte) {
	C.nevod_go_set_header(e.raw, lendText(name), lend(value))
}

// AddHeader appends a line.
func (e *Edits) AddHeader(name string, value []byte) {
	C.nevod_go_add_header(e.raw, lendText(name), lend(value))
}

// AddQuery appends name=value to the query; the host escapes both.
func (e *Edits) AddQuery(name string, value []byte) {
	C.nevod_go_add_query(e.raw, lendText(name), lend(value))
}

// AddCookie adds to the Cookie header.
func (e *Edits) AddCookie(name string, value []byte) {
	C.nevod_go_add_cookie(e.raw, lendText(name), lend(value))
}

// ReplaceBody needs NeedReplaceBody.
func (e *Edits) ReplaceBody(body []byte) { C.nevod_go_replace_body(e.raw, lend(body)) }

// WrapBody replaces the body with length bytes, which the wrapping makes from it during sending. Needs NeedReplaceBody.
func (e *Edits) WrapBody(length uint64, wrapping Wrapping) {
	C.nevod_go_wrap_body(e.raw, C.uint64_t(length), newHandle(wrapping)) // the host frees it, in any case
}

// Wrapping makes the body that is sent. The piece is valid until the call returns.
type Wrapping interface {
	Piece(piece []byte, isLast bool, output *Output) error
}

// Output receives the bytes of a wrapped body.
type Output struct{ raw *C.nevod_output }

func (o *Output) Write(bytes []byte) (int, error) {
	if C.nevod_go_write(o.raw, lend(bytes)) != C.NEVOD_OK {
		return 0, &Error{Status: C.NEVOD_INTERNAL, Message: "the body is longer than announced"}
	}
	return len(bytes), nil
}

// Response is a server's response.
type Response struct {
	Status  int
	Headers []Pair // every line in order
	Body    []byte
	URL     string
	Digests []Pair
	IsCut   bool // the body was longer
}

func newResponse(raw *C.nevod_response) *Response {
	if raw == nil {
		return nil
	}
	return &Response{
		Status: int(raw.status), Headers: pairs(raw.headers, raw.header_count), Body: append([]byte(nil), borrow(raw.body)...),
		URL: text(raw.url), Digests: pairs(raw.digests, raw.digest_count), IsCut: raw.flags&C.NEVOD_RESPONSE_CUT != 0,
	}
}

// Header returns the first line of that name, in any letter case, or "".
func (r *Response) Header(name string) string {
	for _, pair := range r.Headers {
		if strings.EqualFold(pair.Name, name) {
			return string(pair.Value)
		}
	}
	return ""
}

// Replies are changes that OnResponse may make.
type Replies struct{ raw *C.nevod_actions }

// SetState replaces the state of this instance, account and origin.
func (r *Replies) SetState(state []byte) { C.nevod_go_set_state(r.raw, lend(state)) }

// Keep stores a token in place of the one that the request carried.
func (r *Replies) Keep(token *Issued) { token.pass(r.raw, true) }

// ---------------------------------------------------------------------------------------------------------------------
// Flows.

// Issued is a token that a flow issues.
type Issued struct {
	Bytes     []byte
	ExpiresAt time.Time // zero: unknown
	Account   string    // "": the account of the token that it replaces, or unknown
}

func (i *Issued) pass(actions *C.nevod_actions, keeps bool) C.int32_t {
	if i == nil {
		i = &Issued{}
	}
	expires, flag := int64(0), C.int(0)
	if !i.ExpiresAt.IsZero() {
		expires = i.ExpiresAt.UnixNano()
	}
	if keeps {
		flag = 1
	}
	return C.nevod_go_token(actions, flag, lend(i.Bytes), C.int64_t(expires), lendText(i.Account))
}

// Request is a flow's request to an origin that a setting names.
type Request struct {
	Method, URL string
	Headers     []Pair
	Body        []byte
	NoRedirects bool // a redirect arrives as a response
}

// Question is asked of the user.
type Question struct {
	Kind         int32 // AskText, if it is 0
	Name, Prompt string
	Choices      []string
}

// Kinds of a Question.
const (
	AskText   = 1
	AskSecret = 2
	AskCode   = 3
	AskChoice = 4
)

type event struct {
	kind         int32
	response     *Response
	answers      Settings
	message, url string
	body, random []byte
	now          time.Time
	token        []byte
	account      string
	state        []byte
	parameters   Settings
}

func newEvent(raw *C.nevod_event) *event {
	e := &event{
		kind: int32(raw.kind), response: newResponse(raw.response), answers: pairs(raw.answers, raw.answer_count),
		message: text(raw.message), url: text(raw.url), body: append([]byte(nil), borrow(raw.body)...),
		random: append([]byte(nil), borrow(raw.random)...), now: time.Unix(0, int64(raw.unix_time_ns)).UTC(),
		account: text(raw.account), state: append([]byte(nil), borrow(raw.state)...),
		parameters: pairs(raw.parameters, raw.parameter_count),
	}
	if raw.token != nil {
		e.token = append([]byte{}, borrow(raw.token.bytes)...)
	}
	return e
}

// Flow has the actions of a flow. Call them one after another, on the flow's goroutine.
type Flow struct {
	Token      []byte    // the token to renew, use or revoke, or nil
	Account    string    // the account that the user wants, or ""
	State      []byte    // as in View
	Response   *Response // in a CHALLENGE flow: the response with the challenge
	Parameters Settings  // the parameters of the request that needs the token
	Now        time.Time // at this step, corrected for the server's clock
	Random     []byte    // 32 bytes, fresh for each step

	function func(*Flow) (*Issued, error)
	started  bool
	hasState bool // SetState was called since the last action
	events   chan *event
	moves    chan move
	freed    chan struct{}
	finished chan struct{}
}

// An action, or the end of the flow, passed from the flow's goroutine to the host's call.
type move struct {
	act    func(actions *C.nevod_actions) C.int32_t
	status chan C.int32_t
	token  *Issued
	err    error
}

func (f *Flow) run() {
	defer close(f.finished)
	var end move
	defer func() {
		select {
		case f.moves <- end:
		case <-f.freed:
		}
	}()
	defer func() {
		if fault := recover(); fault != nil {
			end = move{err: panicked(fault)}
		}
	}()
	end.err = &Error{Status: C.NEVOD_INTERNAL, Message: "the flow's goroutine ended early"}
	token, err := f.function(f)
	end = move{token: token, err: err}
}

// Performs an action in the host's call, and waits for the next call's event.
func (f *Flow) do(kind int32, act func(actions *C.nevod_actions) C.int32_t) (*event, error) {
	select {
	case <-f.freed: // in a deferred function
		return nil, &Error{Status: C.NEVOD_UNAVAILABLE, reason: reasonCancelled}
	default:
	}
	status := make(chan C.int32_t, 1)
	f.moves <- move{act: act, status: status}
	switch <-status {
	case C.NEVOD_OK:
	case C.NEVOD_UNSUPPORTED:
		return nil, &Error{Status: C.NEVOD_UNSUPPORTED, Message: "this host can't perform an action of the flow", reason: reasonUnsupported}
	default:
		return nil, &Error{Status: C.NEVOD_INTERNAL, Message: "the host refused an action of the flow"}
	}
	var arrived *event
	select {
	case arrived = <-f.events:
	case <-f.freed: // abandoned: only its deferred functions still run
		runtime.Goexit()
	}
	f.Now, f.Random = arrived.now, arrived.random
	switch arrived.kind {
	case kind:
		return arrived, nil
	case C.NEVOD_EVENT_TRANSPORT_ERROR:
		return nil, &Error{Status: C.NEVOD_UNAVAILABLE, Message: arrived.message, reason: reasonTransport}
	case C.NEVOD_EVENT_CANCELLED:
		return nil, &Error{Status: C.NEVOD_UNAVAILABLE, reason: reasonCancelled}
	}
	return nil, Unsupported("an event arrived that this flow did not ask for")
}

// Send sends a request.
func (f *Flow) Send(request Request) (*Response, error) {
	arrived, err := f.do(C.NEVOD_EVENT_RESPONSE, func(actions *C.nevod_actions) C.int32_t {
		var memory arena
		defer memory.free()
		headers := (*C.nevod_pair)(memory.allocate(len(request.Headers) * int(C.sizeof_nevod_pair)))
		lines := unsafe.Slice(headers, len(request.Headers))
		for i, header := range request.Headers {
			lines[i] = C.nevod_pair{name: memory.text(header.Name), value: memory.bytes(header.Value)}
		}
		raw := (*C.nevod_flow_request)(memory.allocate(int(C.sizeof_nevod_flow_request)))
		raw.struct_size = C.sizeof_nevod_flow_request
		raw.header_count = C.uint32_t(len(request.Headers))
		raw.method, raw.url, raw.headers = memory.text(request.Method), memory.text(request.URL), headers
		raw.body = memory.bytes(request.Body)
		if !request.NoRedirects {
			raw.follow_redirects = 1
		}
		return C.nevod_go_send(actions, raw)
	})
	if err != nil {
		return nil, err
	}
	return arrived.response, nil
}

// PostForm posts an encoded form, such as the result of url.Values.Encode.
func (f *Flow) PostForm(url, form string, headers ...Pair) (*Response, error) {
	headers = append([]Pair{{"Content-Type", []byte("application/x-www-form-urlencoded")}}, headers...)
	return f.Send(Request{Method: "POST", URL: url, Headers: headers, Body: []byte(form)})
}

// Ask asks the user, and returns the answers by the questions' names.
func (f *Flow) Ask(questions ...Question) (Settings, error) {
	arrived, err := f.do(C.NEVOD_EVENT_ANSWERS, func(actions *C.nevod_actions) C.int32_t {
		var memory arena
		defer memory.free()
		start := (*C.nevod_question)(memory.allocate(len(questions) * int(C.sizeof_nevod_question)))
		raw := unsafe.Slice(start, len(questions))
		for i, question := range questions {
			raw[i].struct_size = C.sizeof_nevod_question
			raw[i].kind = C.int32_t(question.Kind)
			if question.Kind == 0 {
				raw[i].kind = AskText
			}
			raw[i].name, raw[i].prompt = memory.text(question.Name), memory.text(question.Prompt)
			raw[i].choices = memory.texts(question.Choices)
			raw[i].choice_count = C.uint32_t(len(question.Choices))
		}
		return C.nevod_go_ask(actions, start, C.uint32_t(len(questions)))
	})
	if err != nil {
		return nil, err
	}
	return arrived.answers, nil
}

// Show shows a text, and an address to open by hand; either may be empty.
func (f *Flow) Show(text, url string) error {
	_, err := f.do(C.NEVOD_EVENT_SHOWN, func(actions *C.nevod_actions) C.int32_t {
		return C.nevod_go_show(actions, lendText(text), lendText(url))
	})
	return err
}

// Listen opens a redirect URI on loopback with this path, and returns it.
func (f *Flow) Listen(path string) (string, error) {
	arrived, err := f.do(C.NEVOD_EVENT_LISTENING, func(actions *C.nevod_actions) C.int32_t {
		return C.nevod_go_listen(actions, lendText(path))
	})
	if err != nil {
		return "", err
	}
	return arrived.url, nil
}

// Browse opens an address in a browser, and returns the redirect's URL and the form posted with it. Check a proof in it, such as
// state: any program may have sent it.
func (f *Flow) Browse(url string) (string, []byte, error) {
	arrived, err := f.do(C.NEVOD_EVENT_REDIRECT, func(actions *C.nevod_actions) C.int32_t {
		return C.nevod_go_browse(actions, lendText(url))
	})
	if err != nil {
		return "", nil, err
	}
	return arrived.url, arrived.body, nil
}

// Wait is the only way to let time pass in a flow.
func (f *Flow) Wait(duration time.Duration) error {
	if duration < 0 {
		duration = 0
	}
	_, err := f.do(C.NEVOD_EVENT_TIMER, func(actions *C.nevod_actions) C.int32_t {
		return C.nevod_go_wait(actions, C.uint64_t(duration))
	})
	return err
}

// Keep stores a token now, durably, before the flow goes on.
func (f *Flow) Keep(token *Issued) error {
	_, err := f.do(C.NEVOD_EVENT_KEPT, func(actions *C.nevod_actions) C.int32_t { return token.pass(actions, true) })
	return err
}

// SetState replaces the state of this instance, account and origin, at most 64 KiB. The host gets it with the next action, or at the
// flow's end.
func (f *Flow) SetState(state []byte) {
	f.State = append([]byte(nil), state...)
	f.hasState = true
}

// ---------------------------------------------------------------------------------------------------------------------
// The functions of the contract's table.

// C must not keep Go pointers. It keeps the address of a C cell that holds a handle.
func newHandle(value any) unsafe.Pointer {
	cell := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(cell) = cgo.NewHandle(value)
	return cell
}

func valueOf(cell unsafe.Pointer) any { return (*(*cgo.Handle)(cell)).Value() }

//export nevodGoFree
func nevodGoFree(cell unsafe.Pointer) {
	(*(*cgo.Handle)(cell)).Delete()
	C.free(cell)
}

// C memory for the duration of one call. It is wiped, because a request may contain secrets.
type arena struct{ blocks []C.nevod_bytes }

func (a *arena) allocate(count int) unsafe.Pointer {
	if count == 0 {
		return nil
	}
	block := C.calloc(1, C.size_t(count))
	a.blocks = append(a.blocks, C.nevod_bytes{data: (*C.uint8_t)(block), count: C.uint64_t(count)})
	return block
}

func (a *arena) bytes(from []byte) C.nevod_bytes {
	to := a.allocate(len(from))
	if to != nil {
		copy(unsafe.Slice((*byte)(to), len(from)), from)
	}
	return C.nevod_bytes{data: (*C.uint8_t)(to), count: C.uint64_t(len(from))}
}

func (a *arena) text(from string) C.nevod_bytes { return a.bytes([]byte(from)) }

func (a *arena) texts(from []string) *C.nevod_bytes {
	to := (*C.nevod_bytes)(a.allocate(len(from) * int(C.sizeof_nevod_bytes)))
	for i, text := range from {
		unsafe.Slice(to, len(from))[i] = a.text(text)
	}
	return to
}

func (a *arena) free() {
	for _, block := range a.blocks {
		C.nevod_go_wipe(unsafe.Pointer(block.data), C.size_t(block.count))
		C.free(unsafe.Pointer(block.data))
	}
}

func panicked(fault any) error {
	return &Error{Status: C.NEVOD_INTERNAL, Message: "the plugin panicked", Detail: fmt.Sprint(fault)}
}

// Reports the error, if there is one, and returns its status.
func report(to unsafe.Pointer, err error) C.int32_t {
	if err == nil {
		return C.NEVOD_OK
	}
	var own *Error
	if !errors.As(err, &own) {
		own = &Error{Status: C.NEVOD_INTERNAL, Message: "the plugin returned an error of its own", Detail: err.Error()}
	}
	if own == nil {
		own = &Error{Status: C.NEVOD_INTERNAL, Message: "the plugin returned an error that is a nil pointer"}
	}
	if own.Subject+own.Message+own.Detail != "" {
		C.nevod_go_report((*C.nevod_errors)(to), lendText(own.Subject), lendText(own.Message), lendText(own.Detail))
	}
	if own.Status == C.NEVOD_OK {
		return C.NEVOD_INTERNAL // an error without a status isn't a success
	}
	return C.int32_t(own.Status)
}

// Runs a function of the scheme; a panic becomes an error, because nothing may unwind into the host.
func guarded(body func() error) (err error) {
	finished := false
	defer func() {
		if !finished { // recover also returns nil after panic(nil)
			err = panicked(recover())
		}
	}()
	err = body()
	finished = true
	return err
}

type instance struct {
	scheme Scheme
	memory arena
	needs  *C.nevod_needs
}

var (
	exported Plugin
	table    *C.nevod_plugin
	schemes  map[unsafe.Pointer]*Definition // by the address of its table
	once     sync.Once
)

// Export declares what the plugin offers. Call it once, to initialize a package variable.
func Export(plugin Plugin) bool {
	exported = plugin
	return true
}

//export nevod_plugin_v1
func nevod_plugin_v1() unsafe.Pointer {
	once.Do(func() {
		var memory arena // never freed
		count := len(exported.Schemes)
		pointers := unsafe.Slice((**C.nevod_scheme)(memory.allocate((count+1)*int(unsafe.Sizeof(table)))), count)
		schemes = make(map[unsafe.Pointer]*Definition, count)
		for i := range exported.Schemes {
			definition := &exported.Schemes[i]
			scheme := (*C.nevod_scheme)(memory.allocate(int(C.sizeof_nevod_scheme)))
			scheme.struct_size = C.sizeof_nevod_scheme
			scheme.flags = C.uint32_t(definition.Flags)
			scheme.id, scheme.title = memory.text(definition.ID), memory.text(definition.Title)
			scheme.settings, scheme.setting_count = memory.settings(definition.Settings), C.uint32_t(len(definition.Settings))
			scheme.parameters, scheme.parameter_count = memory.settings(definition.Parameters), C.uint32_t(len(definition.Parameters))
			flows := C.int(0)
			if definition.Flows {
				flows = 1
			}
			C.nevod_go_fill(scheme, flows)
			pointers[i] = scheme
			schemes[unsafe.Pointer(scheme)] = definition
		}
		plugin := (*C.nevod_plugin)(memory.allocate(int(C.sizeof_nevod_plugin)))
		plugin.struct_size = C.sizeof_nevod_plugin
		plugin.abi_major, plugin.abi_draft = C.NEVOD_ABI_MAJOR, C.NEVOD_ABI_DRAFT
		if count > 0 {
			plugin.schemes, plugin.scheme_count = &pointers[0], C.uint32_t(count)
		}
		plugin.name, plugin.version = memory.text(exported.Name), memory.text(exported.Version)
		plugin.vendor = memory.text(exported.Vendor)
		table = plugin
	})
	return unsafe.Pointer(table)
}

func (a *arena) settings(from []Setting) **C.nevod_setting {
	to := (**C.nevod_setting)(a.allocate(len(from) * int(unsafe.Sizeof(table))))
	for i, setting := range from {
		raw := (*C.nevod_setting)(a.allocate(int(C.sizeof_nevod_setting)))
		raw.struct_size = C.sizeof_nevod_setting
		raw.kind, raw.flags = C.int32_t(setting.Kind), C.uint32_t(setting.Flags)
		if setting.Kind == 0 {
			raw.kind = Text
		}
		raw.choices, raw.choice_count = a.texts(setting.Choices), C.uint32_t(len(setting.Choices))
		raw.name, raw.default_value, raw.help = a.text(setting.Name), a.text(setting.Default), a.text(setting.Help)
		unsafe.Slice(to, len(from))[i] = raw
	}
	return to
}

//export nevodGoCreate
func nevodGoCreate(scheme, host, values unsafe.Pointer, count C.uint32_t, out, errors unsafe.Pointer) C.int32_t {
	return report(errors, guarded(func() error {
		definition := schemes[scheme]
		made, err := definition.Create(pairs((*C.nevod_pair)(values), count), &Host{(*C.nevod_host)(host)})
		if err != nil {
			return err
		}
		self := &instance{scheme: made}
		var needs Needs
		if needer, ok := made.(Needer); ok {
			needs = needer.Needs()
		}
		raw := (*C.nevod_needs)(self.memory.allocate(int(C.sizeof_nevod_needs)))
		raw.struct_size, raw.flags = C.sizeof_nevod_needs, C.uint32_t(needs.Flags)
		raw.digests, raw.digest_count = self.memory.texts(needs.Digests), C.uint32_t(len(needs.Digests))
		raw.response_digests = self.memory.texts(needs.ResponseDigests)
		raw.response_digest_count = C.uint32_t(len(needs.ResponseDigests))
		statuses := (*C.int32_t)(self.memory.allocate(4 * len(needs.ChallengeStatuses)))
		for i, status := range needs.ChallengeStatuses {
			unsafe.Slice(statuses, len(needs.ChallengeStatuses))[i] = C.int32_t(status)
		}
		raw.challenge_statuses, raw.challenge_status_count = statuses, C.uint32_t(len(needs.ChallengeStatuses))
		raw.challenge_types = self.memory.texts(needs.ChallengeTypes)
		raw.challenge_type_count = C.uint32_t(len(needs.ChallengeTypes))
		self.needs = raw
		*(*unsafe.Pointer)(out) = newHandle(self)
		return nil
	}))
}

//export nevodGoDestroy
func nevodGoDestroy(cell unsafe.Pointer) {
	self := valueOf(cell).(*instance)
	if closer, ok := self.scheme.(Closer); ok {
		_ = guarded(func() error { closer.Close(); return nil })
	}
	self.memory.free()
	nevodGoFree(cell)
}

//export nevodGoNeeds
func nevodGoNeeds(cell unsafe.Pointer) unsafe.Pointer {
	return unsafe.Pointer(valueOf(cell).(*instance).needs)
}

//export nevodGoDecode
func nevodGoDecode(cell unsafe.Pointer, bytes C.nevod_bytes, out, errors unsafe.Pointer) C.int32_t {
	return report(errors, guarded(func() error {
		var token any
		if decoder, ok := valueOf(cell).(*instance).scheme.(Decoder); ok {
			decoded, err := decoder.Decode(borrow(bytes))
			if err != nil {
				return err
			}
			token = decoded
		} else {
			token = append([]byte{}, borrow(bytes)...)
		}
		*(*unsafe.Pointer)(out) = newHandle(token)
		return nil
	}))
}

func tokenOf(cell unsafe.Pointer) any {
	if cell == nil {
		return nil
	}
	return valueOf(cell)
}

func isKnown(view *C.nevod_view) bool {
	return view.target_kind >= C.NEVOD_TARGET_ORIGIN && view.target_kind <= C.NEVOD_TARGET_PROXY &&
		view.body_kind >= C.NEVOD_BODY_NONE && view.body_kind <= C.NEVOD_BODY_STREAM
}

func isKnownResponse(response *C.nevod_response) bool {
	return response.target_kind >= C.NEVOD_TARGET_ORIGIN && response.target_kind <= C.NEVOD_TARGET_PROXY &&
		response.flags&C.NEVOD_CRITICAL_BITS == 0
}

//export nevodGoAuthorize
func nevodGoAuthorize(cell, token, view, edits, errors unsafe.Pointer) C.int32_t {
	return report(errors, guarded(func() error {
		if !isKnown((*C.nevod_view)(view)) {
			return Unsupported("the request has a recipient or a body of an unknown kind")
		}
		scheme := valueOf(cell).(*instance).scheme
		return scheme.Authorize(&View{(*C.nevod_view)(view)}, tokenOf(token), &Edits{(*C.nevod_edits)(edits)})
	}))
}

//export nevodGoOnResponse
func nevodGoOnResponse(cell, token, view, response, actions, errors unsafe.Pointer) C.int32_t {
	verdict := Nothing
	err := guarded(func() error {
		responder, ok := valueOf(cell).(*instance).scheme.(Responder)
		if !ok || !isKnown((*C.nevod_view)(view)) || !isKnownResponse((*C.nevod_response)(response)) {
			return nil
		}
		found, err := responder.OnResponse(&View{(*C.nevod_view)(view)}, tokenOf(token),
			newResponse((*C.nevod_response)(response)), &Replies{(*C.nevod_actions)(actions)})
		verdict = found
		return err
	})
	if err != nil {
		report(errors, err)
		return C.NEVOD_VERDICT_REFUSE
	}
	return C.int32_t(verdict)
}

//export nevodGoFlowBegin
func nevodGoFlowBegin(cell unsafe.Pointer, kind C.int32_t, out, errors unsafe.Pointer) C.int32_t {
	var function func(*Flow) (*Issued, error)
	scheme := valueOf(cell).(*instance).scheme
	switch kind {
	case C.NEVOD_FLOW_LOGIN:
		if own, ok := scheme.(FlowScheme); ok {
			function = own.Login
		}
	case C.NEVOD_FLOW_REFRESH:
		if own, ok := scheme.(Refresher); ok {
			function = own.Refresh
		}
	case C.NEVOD_FLOW_CHALLENGE:
		if own, ok := scheme.(Challenger); ok {
			function = own.Challenge
		}
	case C.NEVOD_FLOW_LOGOUT:
		if own, ok := scheme.(Logouter); ok {
			function = func(flow *Flow) (*Issued, error) { return nil, own.Logout(flow) }
		}
	}
	if function == nil {
		return C.NEVOD_UNSUPPORTED // the host works without this flow, and needs no reason
	}
	*(*unsafe.Pointer)(out) = newHandle(&Flow{
		function: function, events: make(chan *event), moves: make(chan move), freed: make(chan struct{}),
		finished: make(chan struct{}),
	})
	return C.NEVOD_OK
}

//export nevodGoFlowStep
func nevodGoFlowStep(cell, raw, actions, errors unsafe.Pointer) C.int32_t {
	flow := valueOf(cell).(*Flow)
	if response := (*C.nevod_event)(raw).response; response != nil && !isKnownResponse(response) {
		return report(errors, Unsupported("the response has a sender or a flag of an unknown kind"))
	}
	arrived := newEvent((*C.nevod_event)(raw))
	if !flow.started {
		switch arrived.kind {
		case C.NEVOD_EVENT_START:
		case C.NEVOD_EVENT_CANCELLED:
			return C.NEVOD_UNAVAILABLE
		default:
			return report(errors, Unsupported("an event arrived before the flow was started"))
		}
		flow.started = true
		flow.Token, flow.Account, flow.State = arrived.token, arrived.account, arrived.state
		flow.Response, flow.Parameters = arrived.response, arrived.parameters
		flow.Now, flow.Random = arrived.now, arrived.random
		go flow.run()
	} else {
		select {
		case flow.events <- arrived:
		case <-flow.finished:
			return report(errors, &Error{Status: C.NEVOD_INTERNAL, Message: "the flow has finished already"})
		}
	}
	// Performs the goroutine's actions here, because a sink is valid only on its call's thread.
	for {
		next := <-flow.moves // the goroutine waits from now on, so the flow's fields may be read
		if flow.hasState {
			flow.hasState = false
			C.nevod_go_set_state((*C.nevod_actions)(actions), lend(flow.State))
		}
		if next.act == nil {
			if next.err != nil {
				return report(errors, next.err)
			}
			return next.token.pass((*C.nevod_actions)(actions), false)
		}
		status := next.act((*C.nevod_actions)(actions))
		next.status <- status
		if status == C.NEVOD_OK {
			return C.NEVOD_OK
		}
	}
}

//export nevodGoFlowFree
func nevodGoFlowFree(cell unsafe.Pointer) {
	flow := valueOf(cell).(*Flow)
	close(flow.freed)
	if flow.started {
		<-flow.finished // leave no goroutine behind
	}
	nevodGoFree(cell)
}

//export nevodGoBodyPiece
func nevodGoBodyPiece(cell unsafe.Pointer, piece C.nevod_bytes, isLast C.int32_t, output, errors unsafe.Pointer) C.int32_t {
	return report(errors, guarded(func() error {
		return valueOf(cell).(Wrapping).Piece(borrow(piece), isLast != 0, &Output{(*C.nevod_output)(output)})
	}))
}
