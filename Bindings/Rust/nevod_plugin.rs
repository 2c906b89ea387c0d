//! nevod_plugin.rs: bindings for plugins in Rust, in one file without crates. Rust 1.63 and newer.
//!
//! Copy this file beside your own, and build with rustc alone:
//!
//! ```text
//! rustc --edition 2021 --crate-type cdylib -O -o libExample.so example.rs
//! ```
//!
//! ```text
//! mod nevod_plugin;
//! use nevod_plugin::*;
//!
//! struct Key(Secret);
//!
//! impl Scheme for Key {
//!     const ID: &'static str = "key";
//!     const TITLE: &'static str = "A key in a header";
//!     const SETTINGS: &'static [Setting] = &[Setting::text("key", "The key").required().secret()];
//!     type Token = ();
//!
//!     fn create(settings: &Settings, _host: Host) -> Result<Self, Error> {
//!         Ok(Key(settings.secret("key")))
//!     }
//!     fn authorize(&self, _request: &View, _token: Option<&()>, edits: &Edits) -> Result<(), Error> {
//!         edits.set_header("X-Key", self.0.as_bytes());
//!         Ok(())
//!     }
//! }
//!
//! nevod_plugin! { name: "Key", version: "1.0.0", vendor: "Example", schemes: [scheme::<Key>()] }
//! ```
//!
//! A scheme with a login also implements `FlowScheme`, and is exported with `flow_scheme`. Its flows are async functions, polled
//! only while the host calls: no executor and no thread. A flow may await only the functions of `Flow`.
//!
//! A panic doesn't leave the plugin: the call fails with INTERNAL, and the panic's text is the report's detail. That needs Rust's
//! default panic strategy; don't build with `-C panic=abort`.
//!
//! Part of NevodHost. MIT licence.
#![allow(dead_code)]

use std::cell::RefCell;
use std::ffi::c_void;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{compiler_fence, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};
use std::task::{Context, Poll, Wake, Waker};

/// The structs of nevod_plugin.h, unchanged. The header's comments are the contract.
#[allow(non_camel_case_types)]
pub mod abi {
    use std::ffi::c_void;

    pub const MAJOR: u32 = 1;
    pub const MINOR: u32 = 0;
    pub const DRAFT: u32 = 4;

    pub const OK: i32 = 0;
    pub const BAD_SETTINGS: i32 = 1;
    pub const BAD_TOKEN: i32 = 2;
    pub const DENIED: i32 = 3;
    pub const UNAVAILABLE: i32 = 4;
    pub const UNSUPPORTED: i32 = 5;
    pub const INTERNAL: i32 = 6;

    pub const LENGTH_UNKNOWN: u64 = u64::MAX;
    pub const CRITICAL_BITS: u32 = 0xffff;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct nevod_bytes {
        pub data: *const u8,
        pub count: u64,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct nevod_pair {
        pub name: nevod_bytes,
        pub value: nevod_bytes,
    }

    #[repr(C)]
    pub struct nevod_errors {
        pub struct_size: u32,
        pub reserved: u32,
        pub host: *mut c_void,
        pub report: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes, nevod_bytes),
    }

    #[repr(C)]
    pub struct nevod_host {
        pub struct_size: u32,
        pub abi_minor: u32,
        pub host: *mut c_void,
        pub name: nevod_bytes,
        pub version: nevod_bytes,
        pub log: unsafe extern "C" fn(*mut c_void, i32, nevod_bytes),
        pub get_extension: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> *const c_void,
    }

    #[repr(C)]
    pub struct nevod_view {
        pub struct_size: u32,
        pub target_kind: i32,
        pub method: nevod_bytes,
        pub scheme: nevod_bytes,
        pub authority: nevod_bytes,
        pub target: nevod_bytes,
        pub headers: *const nevod_pair,
        pub header_count: u32,
        pub body_kind: i32,
        pub body_length: u64,
        pub body: nevod_bytes,
        pub digests: *const nevod_pair,
        pub digest_count: u32,
        pub attempt: u32,
        pub unix_time_ns: i64,
        pub random: nevod_bytes,
        pub use_count: u64,
        pub state: nevod_bytes,
        pub parameters: *const nevod_pair,
        pub parameter_count: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct nevod_edits {
        pub struct_size: u32,
        pub reserved: u32,
        pub host: *mut c_void,
        pub set_header: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes) -> i32,
        pub add_header: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes) -> i32,
        pub add_query: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes) -> i32,
        pub add_cookie: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes) -> i32,
        pub replace_body: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> i32,
        pub wrap_body: unsafe extern "C" fn(*mut c_void, u64, *mut c_void) -> i32,
    }

    #[repr(C)]
    pub struct nevod_output {
        pub struct_size: u32,
        pub reserved: u32,
        pub host: *mut c_void,
        pub write: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> i32,
    }

    #[repr(C)]
    pub struct nevod_response {
        pub struct_size: u32,
        pub status: i32,
        pub target_kind: i32,
        pub header_count: u32,
        pub headers: *const nevod_pair,
        pub body: nevod_bytes,
        pub url: nevod_bytes,
        pub digests: *const nevod_pair,
        pub digest_count: u32,
        pub flags: u32,
    }

    #[repr(C)]
    pub struct nevod_setting {
        pub struct_size: u32,
        pub kind: i32,
        pub flags: u32,
        pub choice_count: u32,
        pub choices: *const nevod_bytes,
        pub name: nevod_bytes,
        pub default_value: nevod_bytes,
        pub help: nevod_bytes,
    }

    #[repr(C)]
    pub struct nevod_needs {
        pub struct_size: u32,
        pub flags: u32,
        pub digests: *const nevod_bytes,
        pub response_digests: *const nevod_bytes,
        pub challenge_statuses: *const i32,
        pub digest_count: u32,
        pub response_digest_count: u32,
        pub challenge_status_count: u32,
        pub challenge_type_count: u32,
        pub challenge_types: *const nevod_bytes,
    }

    #[repr(C)]
    pub struct nevod_token {
        pub struct_size: u32,
        pub reserved: u32,
        pub bytes: nevod_bytes,
        pub expires_at_unix_ns: i64,
        pub account: nevod_bytes,
    }

    #[repr(C)]
    pub struct nevod_event {
        pub struct_size: u32,
        pub kind: i32,
        pub unix_time_ns: i64,
        pub random: nevod_bytes,
        pub response: *const nevod_response,
        pub token: *const nevod_token,
        pub answers: *const nevod_pair,
        pub answer_count: u32,
        pub transport_error: i32,
        pub message: nevod_bytes,
        pub url: nevod_bytes,
        pub state: nevod_bytes,
        pub account: nevod_bytes,
        pub body: nevod_bytes,
        pub parameters: *const nevod_pair,
        pub parameter_count: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct nevod_question {
        pub struct_size: u32,
        pub kind: i32,
        pub name: nevod_bytes,
        pub prompt: nevod_bytes,
        pub choices: *const nevod_bytes,
        pub choice_count: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct nevod_flow_request {
        pub struct_size: u32,
        pub header_count: u32,
        pub method: nevod_bytes,
        pub url: nevod_bytes,
        pub headers: *const nevod_pair,
        pub body: nevod_bytes,
        pub follow_redirects: i32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct nevod_listen {
        pub struct_size: u32,
        pub flags: u32,
        pub path: nevod_bytes,
        pub host: nevod_bytes,
        pub port: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct nevod_actions {
        pub struct_size: u32,
        pub reserved: u32,
        pub host: *mut c_void,
        pub send: unsafe extern "C" fn(*mut c_void, *const nevod_flow_request) -> i32,
        pub ask: unsafe extern "C" fn(*mut c_void, *const *const nevod_question, u32) -> i32,
        pub show: unsafe extern "C" fn(*mut c_void, nevod_bytes, nevod_bytes) -> i32,
        pub listen: unsafe extern "C" fn(*mut c_void, *const nevod_listen) -> i32,
        pub browse: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> i32,
        pub wait: unsafe extern "C" fn(*mut c_void, u64) -> i32,
        pub keep: unsafe extern "C" fn(*mut c_void, *const nevod_token) -> i32,
        pub token: unsafe extern "C" fn(*mut c_void, *const nevod_token) -> i32,
        pub set_state: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> i32,
    }

    #[repr(C)]
    pub struct nevod_public_suffix {
        pub struct_size: u32,
        pub reserved: u32,
        pub host: *mut c_void,
        pub is_public: unsafe extern "C" fn(*mut c_void, nevod_bytes) -> i32,
    }

    pub type Create = unsafe extern "C" fn(
        *const nevod_scheme,
        *const nevod_host,
        *const nevod_pair,
        u32,
        *mut *mut c_void,
        *const nevod_errors,
    ) -> i32;
    pub type Authorize = unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *const nevod_view,
        *const nevod_edits,
        *const nevod_errors,
    ) -> i32;
    pub type OnResponse = unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *const nevod_view,
        *const nevod_response,
        *const nevod_actions,
        *const nevod_errors,
    ) -> i32;
    pub type FlowStep = unsafe extern "C" fn(
        *mut c_void,
        *mut c_void,
        *const nevod_event,
        *const nevod_actions,
        *const nevod_errors,
    ) -> i32;
    pub type BodyPiece = unsafe extern "C" fn(
        *mut c_void,
        *mut c_void,
        nevod_bytes,
        i32,
        *const nevod_output,
        *const nevod_errors,
    ) -> i32;

    #[repr(C)]
    pub struct nevod_scheme {
        pub struct_size: u32,
        pub flags: u32,
        pub context: *mut c_void,
        pub id: nevod_bytes,
        pub title: nevod_bytes,
        pub settings: *const *const nevod_setting,
        pub parameters: *const *const nevod_setting,
        pub setting_count: u32,
        pub parameter_count: u32,
        pub create: Option<Create>,
        pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        pub needs: Option<unsafe extern "C" fn(*mut c_void) -> *const nevod_needs>,
        pub token_decode: Option<
            unsafe extern "C" fn(*mut c_void, nevod_bytes, *mut *mut c_void, *const nevod_errors) -> i32,
        >,
        pub token_free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        pub authorize: Option<Authorize>,
        pub on_response: Option<OnResponse>,
        pub flow_begin: Option<
            unsafe extern "C" fn(*mut c_void, i32, *mut *mut c_void, *const nevod_errors) -> i32,
        >,
        pub flow_step: Option<FlowStep>,
        pub flow_free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        pub body_piece: Option<BodyPiece>,
        pub body_free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    }

    #[repr(C)]
    pub struct nevod_plugin {
        pub struct_size: u32,
        pub abi_major: u32,
        pub abi_draft: u32,
        pub abi_minor: u32,
        pub schemes: *const *const nevod_scheme,
        pub scheme_count: u32,
        pub reserved: u32,
        pub name: nevod_bytes,
        pub version: nevod_bytes,
        pub vendor: nevod_bytes,
        pub get_extension:
            Option<unsafe extern "C" fn(*const nevod_scheme, nevod_bytes) -> *const c_void>,
    }

    // The contract has no padding, so in a struct of the right size each field is where the header has it. (The project's tests
    // compare the order with the header's.)
    macro_rules! sizes { ($($name:ident = $size:literal,)*) => {
        $(const _: () = assert!(std::mem::size_of::<$name>() == $size);)*
    } }
    sizes! {
        nevod_bytes = 16, nevod_pair = 32, nevod_errors = 24, nevod_host = 64, nevod_view = 192, nevod_edits = 64, nevod_output = 24,
        nevod_response = 72, nevod_setting = 72, nevod_needs = 56, nevod_token = 48, nevod_event = 160, nevod_question = 56,
        nevod_flow_request = 72, nevod_listen = 48, nevod_actions = 88, nevod_public_suffix = 24, nevod_scheme = 168, nevod_plugin = 88,
    }
}

use abi::{nevod_bytes, nevod_pair};

const NOTHING: nevod_bytes = nevod_bytes { data: ptr::null(), count: 0 };

fn bytes(of: &[u8]) -> nevod_bytes {
    nevod_bytes { data: of.as_ptr(), count: of.len() as u64 }
}

/// # Safety
/// `of` points to `count` bytes that live as long as `'a`: the arguments of a host's call, for the call's duration.
unsafe fn slice<'a>(of: nevod_bytes) -> &'a [u8] {
    if of.count == 0 { &[] } else { std::slice::from_raw_parts(of.data, of.count as usize) }
}

/// # Safety
/// As `slice`.
unsafe fn array<'a, T>(start: *const T, count: u32) -> &'a [T] {
    if count == 0 { &[] } else { std::slice::from_raw_parts(start, count as usize) }
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors and secrets.

/// Why a call fails: a status, and a text for the user.
pub struct Error {
    status: i32,
    reason: Reason,
    subject: String,
    message: String,
    detail: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Reason {
    Own,
    Transport,
    Cancelled,
    Unsupported,
}

impl Error {
    fn new(status: i32, subject: &str, message: impl Into<String>) -> Error {
        Error { status, reason: Reason::Own, subject: subject.into(), message: message.into(), detail: String::new() }
    }

    /// The user must change a setting. Shown as "setting: message".
    pub fn bad_settings(setting: &str, message: impl Into<String>) -> Error {
        Error::new(abi::BAD_SETTINGS, setting, message)
    }
    /// The token can't be read or used: log in again.
    pub fn bad_token(message: impl Into<String>) -> Error {
        Error::new(abi::BAD_TOKEN, "", message)
    }
    /// In a flow: the server refused for good. The host clears the token.
    pub fn denied(message: impl Into<String>) -> Error {
        Error::new(abi::DENIED, "", message)
    }
    /// A temporary failure: the host keeps the token.
    pub fn unavailable(message: impl Into<String>) -> Error {
        Error::new(abi::UNAVAILABLE, "", message)
    }
    /// The scheme can't do this, such as sign a streamed body.
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(abi::UNSUPPORTED, "", message)
    }
    /// A fault of the plugin itself.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(abi::INTERNAL, "", message)
    }
    /// Adds text that may be sensitive: shown only if a user asks for it, and never logged.
    pub fn detail(mut self, detail: impl Into<String>) -> Error {
        self.detail = detail.into();
        self
    }

    /// Whether a flow's request got no response.
    pub fn is_transport(&self) -> bool {
        self.reason == Reason::Transport
    }
    /// Whether the flow was cancelled: return now.
    pub fn is_cancellation(&self) -> bool {
        self.reason == Reason::Cancelled
    }
    /// Whether the host can't perform the action, for lack of a browser or of a user to ask. The flow may try another.
    pub fn is_unsupported(&self) -> bool {
        self.reason == Reason::Unsupported
    }
}

/// Bytes that are wiped when they are dropped, and printed as a redaction.
pub struct Secret(Vec<u8>);

impl Secret {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Secret {
        Secret(bytes.into())
    }
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// The text, or None if it is not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        for byte in self.0.iter_mut() {
            // Volatile, so that it is not optimized away. The pointer is to a valid element.
            unsafe { ptr::write_volatile(byte, 0) }
        }
        compiler_fence(Ordering::SeqCst);
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.write_str("<secret>")
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings.

/// A setting of a scheme, or a parameter of a request.
#[derive(Clone, Copy)]
pub struct Setting {
    kind: i32,
    flags: u32,
    name: &'static str,
    default: &'static str,
    help: &'static str,
    choices: &'static [&'static str],
}

impl Setting {
    const fn new(kind: i32, name: &'static str, help: &'static str) -> Setting {
        Setting { kind, flags: 0, name, default: "", help, choices: &[] }
    }
    pub const fn text(name: &'static str, help: &'static str) -> Setting {
        Setting::new(1, name, help)
    }
    pub const fn integer(name: &'static str, help: &'static str) -> Setting {
        Setting::new(2, name, help)
    }
    pub const fn boolean(name: &'static str, help: &'static str) -> Setting {
        Setting::new(3, name, help)
    }
    pub const fn choice(name: &'static str, choices: &'static [&'static str], help: &'static str) -> Setting {
        let mut setting = Setting::new(4, name, help);
        setting.choices = choices;
        setting
    }
    /// A URL; a flow may send to its origin.
    pub const fn url(name: &'static str, help: &'static str) -> Setting {
        Setting::new(5, name, help)
    }
    pub const fn required(mut self) -> Setting {
        self.flags |= 1;
        self
    }
    pub const fn secret(mut self) -> Setting {
        self.flags |= 2;
        self
    }
    pub const fn repeatable(mut self) -> Setting {
        self.flags |= 4;
        self
    }
    /// For a URL: an issuer. A flow may send to the endpoints in its metadata (RFC 8414).
    pub const fn issuer(mut self) -> Setting {
        self.flags |= 8;
        self
    }
    /// For a URL: it may be relative to the scheme's first URL without this flag, and arrives absolute.
    pub const fn relative(mut self) -> Setting {
        self.flags |= 16;
        self
    }
    pub const fn default(mut self, value: &'static str) -> Setting {
        self.default = value;
        self
    }
}

/// Names and values, in order: settings, parameters, answers, headers.
pub struct Pairs<'a>(&'a [nevod_pair]);

/// The validated settings of an instance.
pub type Settings<'a> = Pairs<'a>;

impl<'a> Pairs<'a> {
    /// Every name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        // The pairs, and what they point to, live as long as 'a.
        self.0.iter().map(|pair| unsafe { (slice(pair.name), slice(pair.value)) })
    }
    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|pair| pair.0 == name.as_bytes()).map(|pair| pair.1)
    }
    /// The first header of that name, in any letter case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|pair| pair.0.eq_ignore_ascii_case(name.as_bytes())).map(|pair| pair.1)
    }
    /// The first value of that name as text, or "".
    pub fn text(&self, name: &str) -> &'a str {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok()).unwrap_or("")
    }
    /// A copy of the first value of that name, or an empty one.
    pub fn secret(&self, name: &str) -> Secret {
        Secret::new(self.get(name).unwrap_or(&[]))
    }
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }
    pub fn boolean(&self, name: &str) -> bool {
        self.text(name) == "true"
    }
}

/// The host's services, valid until the instance is dropped. Keep it in the instance and nowhere else.
pub struct Host(*const abi::nevod_host);

// The contract allows its functions on any thread, concurrently.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

#[derive(Clone, Copy)]
pub enum Level {
    Debug = 1,
    Info = 2,
    Warning = 3,
    Error = 4,
}

impl Host {
    /// Writes a line to the host's log. It must contain no secret.
    pub fn log(&self, level: Level, message: &str) {
        unsafe { ((*self.0).log)((*self.0).host, level as i32, bytes(message.as_bytes())) }
    }
    /// A host's extension by its name, or NULL. Its documentation gives its layout.
    pub fn extension(&self, name: &str) -> *const c_void {
        unsafe { ((*self.0).get_extension)((*self.0).host, bytes(name.as_bytes())) }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// A scheme.

/// Flags of a scheme.
pub const BLOCKS: u32 = 1;
pub const INTERACTIVE: u32 = 1 << 16;
pub const NONDETERMINISTIC: u32 = 1 << 17;

/// Parts of the view and responses that an instance asks for. Each costs the host time.
#[derive(Clone, Copy, Default)]
pub struct Needs {
    pub flags: u32,
    /// Digests of the request's body: "sha-256", "sha-384", "sha-512".
    pub digests: &'static [&'static str],
    /// Digests of the bodies of responses.
    pub response_digests: &'static [&'static str],
    /// Statuses that are challenges of this scheme, in addition to 401, 403 and 407.
    pub challenge_statuses: &'static [i32],
    /// Media types, such as "text/html". A 2xx response of such a type is also a challenge of this scheme.
    pub challenge_types: &'static [&'static str],
}

impl Needs {
    pub const BODY: u32 = 1;
    pub const HEADERS: u32 = 2;
    pub const CHALLENGES: u32 = 4;
    pub const OTHER_RESPONSES: u32 = 8;
    pub const RANDOM: u32 = 16;
    pub const STATE: u32 = 32;
    pub const USE_COUNT: u32 = 64;
    pub const CHALLENGE_BODY: u32 = 128;
    pub const REPLACE_BODY: u32 = 256;
}

/// A token, decoded once from the bytes that a flow issued. `()` is for schemes without flows.
pub trait Token: Send + Sync + Sized + 'static {
    fn decode(bytes: &[u8]) -> Result<Self, Error>;
}

impl Token for () {
    fn decode(_bytes: &[u8]) -> Result<(), Error> {
        Err(Error::bad_token("this scheme has no token"))
    }
}

impl Token for Secret {
    fn decode(bytes: &[u8]) -> Result<Secret, Error> {
        Ok(Secret::new(bytes))
    }
}

/// The result of `on_response`.
#[derive(Clone, Copy)]
pub enum Verdict {
    Nothing = 0,
    StateChanged = 1,
    RetryOnce = 2,
    Challenge = 3,
}

/// A scheme. An instance of it puts a credential on requests. Calls may come on many threads at the same time.
pub trait Scheme: Send + Sync + Sized + 'static {
    const ID: &'static str;
    const TITLE: &'static str;
    const FLAGS: u32 = 0;
    const SETTINGS: &'static [Setting] = &[];
    const PARAMETERS: &'static [Setting] = &[];
    type Token: Token;

    /// Makes an instance from validated settings. May block.
    fn create(settings: &Settings, host: Host) -> Result<Self, Error>;

    /// Asked once, after `create`.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Puts the credential on one request. Depends on its arguments only. The token is None if there is none yet.
    fn authorize(&self, request: &View, token: Option<&Self::Token>, edits: &Edits) -> Result<(), Error>;

    /// Sees the response to a request, if `needs` asked for it. An error rejects the response, with its message as the reason.
    fn on_response(&self, _request: &View, _token: Option<&Self::Token>, _response: &Response, _replies: &Replies)
        -> Result<Verdict, Error> {
        Ok(Verdict::Nothing)
    }
}

/// A request as it will be sent.
pub struct View<'a> {
    raw: &'a abi::nevod_view,
    texts: [&'a str; 4],
}

impl<'a> View<'a> {
    fn new(raw: &'a abi::nevod_view) -> Result<View<'a>, Error> {
        if !(0..=1).contains(&raw.target_kind) || !(0..=2).contains(&raw.body_kind) {
            return Err(Error::unsupported("the request has a recipient or a body of an unknown kind"));
        }
        let mut texts = [""; 4];
        for (text, from) in texts.iter_mut().zip([raw.method, raw.scheme, raw.authority, raw.target]) {
            *text = std::str::from_utf8(unsafe { slice(from) })
                .map_err(|_| Error::unsupported("the request's address is not UTF-8"))?;
        }
        Ok(View { raw, texts })
    }
    pub fn method(&self) -> &'a str {
        self.texts[0]
    }
    /// "http" or "https".
    pub fn scheme(&self) -> &'a str {
        self.texts[1]
    }
    /// The Host line as it will be sent: "api.example.com", "[::1]:8443".
    pub fn authority(&self) -> &'a str {
        self.texts[2]
    }
    /// The exact request-target: "/a%2Fb?x=1".
    pub fn target(&self) -> &'a str {
        self.texts[3]
    }
    pub fn is_proxy(&self) -> bool {
        self.raw.target_kind != 0
    }
    /// Every header line in order. Needs HEADERS.
    pub fn headers(&self) -> Pairs<'a> {
        Pairs(unsafe { array(self.raw.headers, self.raw.header_count) })
    }
    pub fn has_body(&self) -> bool {
        self.raw.body_kind != 0
    }
    /// The body, if it is in memory. Needs BODY.
    pub fn body(&self) -> Option<&'a [u8]> {
        if self.raw.body_kind == 1 { Some(unsafe { slice(self.raw.body) }) } else { None }
    }
    pub fn body_length(&self) -> Option<u64> {
        if self.raw.body_length == abi::LENGTH_UNKNOWN { None } else { Some(self.raw.body_length) }
    }
    /// The raw digest of the body, if `needs` asked for it and it can be read twice.
    pub fn digest(&self, name: &str) -> Option<&'a [u8]> {
        Pairs(unsafe { array(self.raw.digests, self.raw.digest_count) }).get(name)
    }
    /// 1 for the first sending of a request.
    pub fn attempt(&self) -> u32 {
        self.raw.attempt
    }
    /// Nanoseconds since 1970, corrected for the server's clock.
    pub fn unix_time_ns(&self) -> i64 {
        self.raw.unix_time_ns
    }
    /// 32 fresh bytes. Needs RANDOM.
    pub fn random(&self) -> &'a [u8] {
        unsafe { slice(self.raw.random) }
    }
    pub fn use_count(&self) -> u64 {
        self.raw.use_count
    }
    /// The bytes that `set_state` last kept. Needs STATE.
    pub fn state(&self) -> &'a [u8] {
        unsafe { slice(self.raw.state) }
    }
    pub fn parameters(&self) -> Pairs<'a> {
        Pairs(unsafe { array(self.raw.parameters, self.raw.parameter_count) })
    }
}

/// Changes to the request. If the host refuses one, it fails the call itself.
pub struct Edits<'a>(&'a abi::nevod_edits);

impl Edits<'_> {
    /// Replaces every line of that name, or appends one.
    pub fn set_header(&self, name: &str, value: impl AsRef<[u8]>) {
        unsafe { (self.0.set_header)(self.0.host, bytes(name.as_bytes()), bytes(value.as_ref())) };
    }
    pub fn add_header(&self, name: &str, value: impl AsRef<[u8]>) {
        unsafe { (self.0.add_header)(self.0.host, bytes(name.as_bytes()), bytes(value.as_ref())) };
    }
    /// Appends name=value to the query; the host escapes both.
    pub fn add_query(&self, name: &str, value: impl AsRef<[u8]>) {
        unsafe { (self.0.add_query)(self.0.host, bytes(name.as_bytes()), bytes(value.as_ref())) };
    }
    pub fn add_cookie(&self, name: &str, value: impl AsRef<[u8]>) {
        unsafe { (self.0.add_cookie)(self.0.host, bytes(name.as_bytes()), bytes(value.as_ref())) };
    }
    /// Needs REPLACE_BODY.
    pub fn replace_body(&self, body: &[u8]) {
        unsafe { (self.0.replace_body)(self.0.host, bytes(body)) };
    }
    /// Replaces the body with `length` bytes, which the wrapping makes from it during sending. Needs REPLACE_BODY.
    pub fn wrap_body(&self, length: u64, wrapping: Box<dyn Wrapping>) {
        // The host passes the pointer to body_free once, in any case.
        let pointer = Box::into_raw(Box::new(wrapping)) as *mut c_void;
        unsafe { (self.0.wrap_body)(self.0.host, length, pointer) };
    }
}

/// Makes the body that is sent out of the original one.
pub trait Wrapping: Send {
    fn piece(&mut self, piece: &[u8], is_last: bool, output: &Output) -> Result<(), Error>;
}

/// Receives the bytes of a wrapped body.
pub struct Output<'a>(&'a abi::nevod_output);

impl Output<'_> {
    pub fn write(&self, piece: &[u8]) -> Result<(), Error> {
        match unsafe { (self.0.write)(self.0.host, bytes(piece)) } {
            abi::OK => Ok(()),
            _ => Err(Error::internal("the body is longer than announced")),
        }
    }
}

/// Changes that `on_response` may make.
pub struct Replies<'a>(&'a abi::nevod_actions);

impl Replies<'_> {
    /// Replaces the state of this instance, account and origin.
    pub fn set_state(&self, state: &[u8]) {
        unsafe { (self.0.set_state)(self.0.host, bytes(state)) };
    }
    /// Stores a token in place of the one that the request carried.
    pub fn keep(&self, token: &Issued) {
        unsafe { (self.0.keep)(self.0.host, &token.raw()) };
    }
}

/// A server's response.
pub struct Response {
    pub status: i32,
    headers: Vec<(Vec<u8>, Secret)>,
    /// In `on_response`, only a challenge has a body, and only if CHALLENGE_BODY asked for it.
    pub body: Secret,
    pub url: String,
    digests: Vec<(Vec<u8>, Secret)>,
    /// Whether the body was longer.
    pub is_cut: bool,
}

impl Response {
    unsafe fn copy(raw: &abi::nevod_response) -> Result<Response, Error> {
        if !(0..=1).contains(&raw.target_kind) || raw.flags & abi::CRITICAL_BITS != 0 {
            return Err(Error::unsupported("the response has a sender or a flag of an unknown kind"));
        }
        let copy = |start, count| Pairs(array(start, count)).iter().map(|pair| (pair.0.to_vec(), Secret::new(pair.1))).collect();
        Ok(Response {
            status: raw.status,
            headers: copy(raw.headers, raw.header_count),
            body: Secret::new(slice(raw.body)),
            url: text(raw.url),
            digests: copy(raw.digests, raw.digest_count),
            is_cut: raw.flags & 1 << 16 != 0,
        })
    }
    /// All lines of that name, in any letter case: each WWW-Authenticate, each Set-Cookie.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.headers.iter().filter(move |pair| pair.0.eq_ignore_ascii_case(name.as_bytes())).map(|pair| pair.1.as_bytes())
    }
    /// The first line of that name as text, or "".
    pub fn header(&self, name: &str) -> &str {
        let line = self.headers.iter().find(|pair| pair.0.eq_ignore_ascii_case(name.as_bytes()));
        line.and_then(|pair| pair.1.as_str()).unwrap_or("")
    }
    /// The raw digest of the body, if `needs` asked for it and the body is known.
    pub fn digest(&self, name: &str) -> Option<&[u8]> {
        self.digests.iter().find(|pair| pair.0 == name.as_bytes()).map(|pair| pair.1.as_bytes())
    }
}

unsafe fn text(of: nevod_bytes) -> String {
    String::from_utf8_lossy(slice(of)).into_owned()
}

// ---------------------------------------------------------------------------------------------------------------------
// Flows.

/// A scheme that gets its token by flows. A flow is `Box::pin(async move { … })`, and ends with a token or an error.
pub trait FlowScheme: Scheme {
    fn login(self: Arc<Self>, flow: Flow) -> FlowFuture;
    /// None means that there is no such flow: the host logs in instead.
    fn refresh(self: Arc<Self>, _flow: Flow) -> Option<FlowFuture> {
        None
    }
    fn challenge(self: Arc<Self>, _flow: Flow) -> Option<FlowFuture> {
        None
    }
    /// Ends with `Issued::nothing()`.
    fn logout(self: Arc<Self>, _flow: Flow) -> Option<FlowFuture> {
        None
    }
}

pub type FlowFuture = Pin<Box<dyn Future<Output = Result<Issued, Error>> + Send>>;

/// A token that a flow issues.
pub struct Issued {
    pub bytes: Secret,
    /// Nanoseconds since 1970; 0: unknown.
    pub expires_at_unix_ns: i64,
    /// If empty: the account of the token that it replaces, or unknown.
    pub account: String,
}

impl Issued {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Issued {
        Issued { bytes: Secret::new(bytes), expires_at_unix_ns: 0, account: String::new() }
    }
    /// The result of a logout.
    pub fn nothing() -> Issued {
        Issued::new([])
    }
    pub fn expires_at_unix_ns(mut self, time: i64) -> Issued {
        self.expires_at_unix_ns = time;
        self
    }
    pub fn account(mut self, account: impl Into<String>) -> Issued {
        self.account = account.into();
        self
    }
    fn raw(&self) -> abi::nevod_token {
        abi::nevod_token {
            struct_size: std::mem::size_of::<abi::nevod_token>() as u32,
            reserved: 0,
            bytes: bytes(self.bytes.as_bytes()),
            expires_at_unix_ns: self.expires_at_unix_ns,
            account: bytes(self.account.as_bytes()),
        }
    }
}

/// A request of a flow.
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, Secret)>,
    body: Secret,
    follow_redirects: bool,
}

impl Request {
    pub fn new(method: &str, url: impl Into<String>) -> Request {
        let body = Secret::new([]);
        Request { method: method.into(), url: url.into(), headers: Vec::new(), body, follow_redirects: true }
    }
    pub fn get(url: impl Into<String>) -> Request {
        Request::new("GET", url)
    }
    pub fn post(url: impl Into<String>, content_type: &str, body: impl Into<Vec<u8>>) -> Request {
        let mut request = Request::new("POST", url).header("Content-Type", content_type);
        request.body = Secret::new(body);
        request
    }
    /// Posts fields as application/x-www-form-urlencoded.
    pub fn post_form(url: impl Into<String>, fields: &[(&str, &[u8])]) -> Request {
        let mut form = Vec::with_capacity(fields.iter().map(|field| 3 * (field.0.len() + field.1.len()) + 2).sum());
        for (name, value) in fields {
            if !form.is_empty() {
                form.push(b'&');
            }
            encode(name.as_bytes(), &mut form);
            form.push(b'=');
            encode(value, &mut form);
        }
        Request::post(url, "application/x-www-form-urlencoded", form)
    }
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Request {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }
    /// A redirect arrives as a response.
    pub fn without_redirects(mut self) -> Request {
        self.follow_redirects = false;
        self
    }
}

/// Escapes every byte except the unreserved ones (RFC 3986 §2.3).
fn encode(value: &[u8], to: &mut Vec<u8>) {
    for &byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            to.push(byte);
        } else {
            let digits = b"0123456789ABCDEF";
            to.extend_from_slice(&[b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
    }
}

/// A question to the user.
pub struct Question {
    kind: i32,
    name: String,
    prompt: String,
    choices: Vec<String>,
}

impl Question {
    fn new(kind: i32, name: &str, prompt: &str) -> Question {
        Question { kind, name: name.into(), prompt: prompt.into(), choices: Vec::new() }
    }
    pub fn text(name: &str, prompt: &str) -> Question {
        Question::new(1, name, prompt)
    }
    pub fn secret(name: &str, prompt: &str) -> Question {
        Question::new(2, name, prompt)
    }
    pub fn code(name: &str, prompt: &str) -> Question {
        Question::new(3, name, prompt)
    }
    pub fn choice(name: &str, prompt: &str, choices: &[&str]) -> Question {
        let mut question = Question::new(4, name, prompt);
        question.choices = choices.iter().map(|choice| (*choice).into()).collect();
        question
    }
}

/// The user's answers.
pub struct Answers(Vec<(String, Secret)>);

impl Answers {
    /// The answer to the question of that name, or no bytes.
    pub fn get(&self, name: &str) -> &[u8] {
        self.0.iter().find(|pair| pair.0 == name).map_or(&[], |pair| pair.1.as_bytes())
    }
}

/// The data with which a flow begins.
pub struct Start {
    /// The token to renew, use or revoke.
    pub token: Option<Secret>,
    /// The account that the user wants; may be empty.
    pub account: String,
    pub state: Secret,
    /// In a CHALLENGE flow: the response with the challenge.
    pub response: Option<Response>,
    parameters: Vec<(String, String)>,
}

impl Start {
    /// A parameter of the request that needs the token, or "".
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|pair| pair.0 == name).map_or("", |pair| &pair.1)
    }
}

/// A redirect requested by a browser.
pub struct Redirect {
    pub url: String,
    /// The form, if the browser posted one.
    pub body: Secret,
}

struct Event {
    kind: i32,
    response: Option<Response>,
    answers: Vec<(String, Secret)>,
    transport_error: i32,
    message: String,
    url: String,
    body: Secret,
}

struct Progress {
    actions: *const abi::nevod_actions, // NULL except during a step
    has_acted: bool,
    event: Option<Event>,
    start: Option<Arc<Start>>,
    unix_time_ns: i64,
    random: Secret,
}

// `actions` is used only under the lock and within its step. On another thread, it does nothing and returns UNSUPPORTED.
unsafe impl Send for Progress {}

fn locked(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The actions of a flow. Await them one after another.
pub struct Flow(Arc<Mutex<Progress>>);

type Begin<'a> = Box<dyn FnOnce(&abi::nevod_actions) -> i32 + Send + 'a>;

/// The first poll performs the action. The next poll, in the host's next call, takes its event.
struct Act<'a> {
    progress: &'a Mutex<Progress>,
    begin: Option<Begin<'a>>,
}

impl Future for Act<'_> {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context) -> Poll<Self::Output> {
        let begin = self.begin.take();
        let mut progress = locked(self.progress);
        if let Some(begin) = begin {
            if progress.actions.is_null() || progress.has_acted {
                return Poll::Ready(Err(Error::internal("the flow began a second action before the first one was finished")));
            }
            return match begin(unsafe { &*progress.actions }) {
                abi::OK => {
                    progress.has_acted = true;
                    Poll::Pending
                }
                abi::UNSUPPORTED => {
                    let mut error = Error::unsupported("this host can't perform an action of the flow");
                    error.reason = Reason::Unsupported;
                    Poll::Ready(Err(error))
                }
                _ => Poll::Ready(Err(Error::internal("the host refused an action of the flow"))),
            };
        }
        progress.event.take().map_or(Poll::Pending, |event| Poll::Ready(Ok(event)))
    }
}

impl Flow {
    async fn act(&self, kind: i32, begin: impl FnOnce(&abi::nevod_actions) -> i32 + Send) -> Result<Event, Error> {
        let event = Act { progress: &self.0, begin: Some(Box::new(begin)) }.await?;
        if event.kind == kind {
            return Ok(event);
        }
        let mut error = Error::unavailable(event.message);
        match event.kind {
            3 => error.reason = Reason::Transport,
            10 => error.reason = Reason::Cancelled,
            _ => return Err(Error::unsupported("an event arrived that this flow did not ask for")),
        }
        Err(error)
    }

    /// Sends a request, to an origin that a setting names.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let event = self.act(2, move |actions| {
            let headers: Vec<nevod_pair> = request.headers.iter()
                .map(|pair| nevod_pair { name: bytes(pair.0.as_bytes()), value: bytes(pair.1.as_bytes()) }).collect();
            let raw = abi::nevod_flow_request {
                struct_size: std::mem::size_of::<abi::nevod_flow_request>() as u32,
                header_count: headers.len() as u32,
                method: bytes(request.method.as_bytes()),
                url: bytes(request.url.as_bytes()),
                headers: headers.as_ptr(),
                body: bytes(request.body.as_bytes()),
                follow_redirects: i32::from(request.follow_redirects),
                reserved: 0,
            };
            unsafe { (actions.send)(actions.host, &raw) }
        }).await?;
        event.response.ok_or_else(|| Error::internal("the host gave no response"))
    }

    pub async fn ask(&self, questions: &[Question]) -> Result<Answers, Error> {
        let event = self.act(4, move |actions| {
            let choices: Vec<Vec<nevod_bytes>> =
                questions.iter().map(|question| question.choices.iter().map(|choice| bytes(choice.as_bytes())).collect()).collect();
            let raw: Vec<abi::nevod_question> = questions.iter().zip(&choices).map(|(question, choices)| abi::nevod_question {
                struct_size: std::mem::size_of::<abi::nevod_question>() as u32,
                kind: question.kind,
                name: bytes(question.name.as_bytes()),
                prompt: bytes(question.prompt.as_bytes()),
                choices: choices.as_ptr(),
                choice_count: choices.len() as u32,
                reserved: 0,
            }).collect();
            let pointers: Vec<*const abi::nevod_question> = raw.iter().map(|question| question as *const _).collect();
            unsafe { (actions.ask)(actions.host, pointers.as_ptr(), pointers.len() as u32) }
        }).await?;
        Ok(Answers(event.answers))
    }

    /// Shows a text, and an address to open by hand; either may be empty.
    pub async fn show(&self, text: &str, url: &str) -> Result<(), Error> {
        self.act(5, move |actions| unsafe { (actions.show)(actions.host, bytes(text.as_bytes()), bytes(url.as_bytes())) })
            .await.map(drop)
    }

    /// Opens a redirect URI on loopback with this path, and returns it.
    pub async fn listen(&self, path: &str) -> Result<String, Error> {
        let event = self.act(6, move |actions| {
            let raw = abi::nevod_listen {
                struct_size: std::mem::size_of::<abi::nevod_listen>() as u32,
                flags: 0,
                path: bytes(path.as_bytes()),
                host: NOTHING,
                port: 0,
                reserved: 0,
            };
            unsafe { (actions.listen)(actions.host, &raw) }
        }).await?;
        Ok(event.url)
    }

    /// Opens an address in a browser and waits for the redirect. Check a proof in it, such as `state`: any program may have sent
    /// it.
    pub async fn browse(&self, url: &str) -> Result<Redirect, Error> {
        let event = self.act(7, move |actions| unsafe { (actions.browse)(actions.host, bytes(url.as_bytes())) }).await?;
        Ok(Redirect { url: event.url, body: event.body })
    }

    pub async fn wait(&self, time: std::time::Duration) -> Result<(), Error> {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.act(8, move |actions| unsafe { (actions.wait)(actions.host, nanoseconds) }).await.map(drop)
    }

    /// Stores a token now, durably, before the flow goes on.
    pub async fn keep(&self, token: &Issued) -> Result<(), Error> {
        self.act(9, move |actions| unsafe { (actions.keep)(actions.host, &token.raw()) }).await.map(drop)
    }

    /// Replaces the state. It isn't an action, so it isn't awaited.
    pub fn set_state(&self, state: &[u8]) {
        let progress = locked(&self.0);
        if let Some(actions) = unsafe { progress.actions.as_ref() } {
            unsafe { (actions.set_state)(actions.host, bytes(state)) };
        }
    }

    /// The data with which the flow began. Fails only before the flow has started.
    pub fn start(&self) -> Result<Arc<Start>, Error> {
        locked(&self.0).start.clone().ok_or_else(|| Error::internal("the flow has not started"))
    }

    /// Nanoseconds since 1970, at this step.
    pub fn unix_time_ns(&self) -> i64 {
        locked(&self.0).unix_time_ns
    }

    /// 32 bytes, fresh for this step.
    pub fn random(&self) -> Secret {
        Secret::new(locked(&self.0).random.as_bytes())
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The functions of the contract's table.

thread_local! { static PANIC: RefCell<String> = RefCell::new(String::new()); }

/// A plugin writes nothing to standard error. A panic's message becomes a report's detail.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            let _ = PANIC.try_with(|kept| kept.try_borrow_mut().map(|mut kept| *kept = text));
        }))
    });
}

unsafe fn report(errors: *const abi::nevod_errors, error: &Error) {
    let (subject, message, detail) = (error.subject.as_bytes(), error.message.as_bytes(), error.detail.as_bytes());
    if !(subject.is_empty() && message.is_empty() && detail.is_empty()) {
        ((*errors).report)((*errors).host, bytes(subject), bytes(message), bytes(detail));
    }
}

/// Runs a function of the scheme. A panic becomes INTERNAL, because nothing may unwind into the host.
unsafe fn call(errors: *const abi::nevod_errors, body: impl FnOnce() -> Result<i32, Error>) -> Result<i32, i32> {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(result)) => return Ok(result),
        Ok(Err(error)) => error,
        Err(payload) => {
            // Its destructor could panic as well.
            let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
            let detail = PANIC.try_with(|kept| kept.try_borrow_mut().map(|mut kept| std::mem::take(&mut *kept)));
            Error::internal("the plugin panicked").detail(detail.ok().and_then(Result::ok).unwrap_or_default())
        }
    };
    report(errors, &error);
    Err(error.status)
}

/// Runs a function that can't fail.
fn quietly(body: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(body));
}

unsafe fn status(errors: *const abi::nevod_errors, body: impl FnOnce() -> Result<(), Error>) -> i32 {
    call(errors, || body().map(|()| abi::OK)).unwrap_or_else(|status| status)
}

struct Instance<S> {
    scheme: Arc<S>,
    needs: abi::nevod_needs,
    _names: [Vec<nevod_bytes>; 3],
}

unsafe extern "C" fn create<S: Scheme>(
    _scheme: *const abi::nevod_scheme, host: *const abi::nevod_host, values: *const nevod_pair, count: u32,
    out: *mut *mut c_void, errors: *const abi::nevod_errors) -> i32 {
    quiet_panics();
    status(errors, || {
        let scheme = S::create(&Pairs(array(values, count)), Host(host))?;
        let needs = scheme.needs();
        let names = [needs.digests, needs.response_digests, needs.challenge_types].map(|list| list.iter().map(|name| bytes(name.as_bytes())).collect::<Vec<_>>());
        let needs = abi::nevod_needs {
            struct_size: std::mem::size_of::<abi::nevod_needs>() as u32,
            flags: needs.flags,
            digests: names[0].as_ptr(),
            response_digests: names[1].as_ptr(),
            challenge_statuses: needs.challenge_statuses.as_ptr(),
            digest_count: names[0].len() as u32,
            response_digest_count: names[1].len() as u32,
            challenge_status_count: needs.challenge_statuses.len() as u32,
            challenge_type_count: names[2].len() as u32,
            challenge_types: names[2].as_ptr(),
        };
        *out = Box::into_raw(Box::new(Instance { scheme: Arc::new(scheme), needs, _names: names })) as *mut c_void;
        Ok(())
    })
}

/// The instance behind the pointer that `create` gave the host.
unsafe fn instance<'a, S>(pointer: *mut c_void) -> &'a Instance<S> {
    &*(pointer as *const Instance<S>)
}

unsafe extern "C" fn destroy<S: Scheme>(pointer: *mut c_void) {
    quietly(|| drop(Box::from_raw(pointer as *mut Instance<S>)))
}

unsafe extern "C" fn needs<S: Scheme>(pointer: *mut c_void) -> *const abi::nevod_needs {
    &instance::<S>(pointer).needs
}

unsafe extern "C" fn token_decode<S: Scheme>(
    _instance: *mut c_void, from: nevod_bytes, out: *mut *mut c_void, errors: *const abi::nevod_errors) -> i32 {
    status(errors, || {
        *out = Box::into_raw(Box::new(S::Token::decode(slice(from))?)) as *mut c_void;
        Ok(())
    })
}

unsafe extern "C" fn token_free<S: Scheme>(_instance: *mut c_void, token: *mut c_void) {
    quietly(|| drop(Box::from_raw(token as *mut S::Token)))
}

unsafe extern "C" fn authorize<S: Scheme>(
    pointer: *mut c_void, token: *const c_void, view: *const abi::nevod_view, edits: *const abi::nevod_edits,
    errors: *const abi::nevod_errors) -> i32 {
    status(errors, || {
        instance::<S>(pointer).scheme.authorize(&View::new(&*view)?, (token as *const S::Token).as_ref(), &Edits(&*edits))
    })
}

unsafe extern "C" fn on_response<S: Scheme>(
    pointer: *mut c_void, token: *const c_void, view: *const abi::nevod_view, response: *const abi::nevod_response,
    actions: *const abi::nevod_actions, errors: *const abi::nevod_errors) -> i32 {
    call(errors, || {
        let view = match View::new(&*view) {
            Ok(view) => view,
            Err(_) => return Ok(Verdict::Nothing as i32), // the contract's result for what is unknown
        };
        let response = match Response::copy(&*response) {
            Ok(response) => response,
            Err(_) => return Ok(Verdict::Nothing as i32),
        };
        let token = (token as *const S::Token).as_ref();
        instance::<S>(pointer).scheme.on_response(&view, token, &response, &Replies(&*actions)).map(|verdict| verdict as i32)
    }).unwrap_or(4)
}

unsafe extern "C" fn body_piece<S: Scheme>(
    _instance: *mut c_void, wrapping: *mut c_void, piece: nevod_bytes, is_last: i32, output: *const abi::nevod_output,
    errors: *const abi::nevod_errors) -> i32 {
    status(errors, || (*(wrapping as *mut Box<dyn Wrapping>)).piece(slice(piece), is_last != 0, &Output(&*output)))
}

unsafe extern "C" fn body_free<S: Scheme>(_instance: *mut c_void, wrapping: *mut c_void) {
    quietly(|| drop(Box::from_raw(wrapping as *mut Box<dyn Wrapping>)))
}

struct Running {
    future: Option<FlowFuture>,
    progress: Arc<Mutex<Progress>>,
}

struct NoWaker;

impl Wake for NoWaker {
    fn wake(self: Arc<Self>) {}
}

unsafe extern "C" fn flow_begin<S: FlowScheme>(
    pointer: *mut c_void, kind: i32, out: *mut *mut c_void, errors: *const abi::nevod_errors) -> i32 {
    call(errors, || {
        let scheme = instance::<S>(pointer).scheme.clone();
        let progress = Arc::new(Mutex::new(Progress {
            actions: ptr::null(),
            has_acted: false,
            event: None,
            start: None,
            unix_time_ns: 0,
            random: Secret::new([]),
        }));
        let flow = Flow(progress.clone());
        let future = match kind {
            1 => Some(scheme.login(flow)),
            2 => scheme.refresh(flow),
            3 => scheme.challenge(flow),
            4 => scheme.logout(flow),
            _ => None,
        };
        if future.is_none() {
            return Ok(abi::UNSUPPORTED); // the host works without this flow, and needs no reason
        }
        *out = Box::into_raw(Box::new(Running { future, progress })) as *mut c_void;
        Ok(abi::OK)
    }).unwrap_or_else(|status| status)
}

unsafe fn copy_event(raw: &abi::nevod_event) -> Result<Event, Error> {
    Ok(Event {
        kind: raw.kind,
        response: raw.response.as_ref().map(|response| Response::copy(response)).transpose()?,
        answers: Pairs(array(raw.answers, raw.answer_count)).iter()
            .map(|pair| (String::from_utf8_lossy(pair.0).into_owned(), Secret::new(pair.1))).collect(),
        transport_error: raw.transport_error,
        message: text(raw.message),
        url: text(raw.url),
        body: Secret::new(slice(raw.body)),
    })
}

unsafe extern "C" fn flow_step<S: FlowScheme>(
    _instance: *mut c_void, flow: *mut c_void, event: *const abi::nevod_event, actions: *const abi::nevod_actions,
    errors: *const abi::nevod_errors) -> i32 {
    let running = &mut *(flow as *mut Running); // calls on one flow are serial
    let result = call(errors, || {
        let raw = &*event;
        let mut event = copy_event(raw)?;
        {
            let mut progress = locked(&running.progress);
            progress.actions = actions;
            progress.has_acted = false;
            progress.unix_time_ns = raw.unix_time_ns;
            progress.random = Secret::new(slice(raw.random));
            if raw.kind == 1 {
                progress.start = Some(Arc::new(Start {
                    token: raw.token.as_ref().map(|token| Secret::new(slice(token.bytes))),
                    account: text(raw.account),
                    state: Secret::new(slice(raw.state)),
                    response: event.response.take(),
                    parameters: Pairs(array(raw.parameters, raw.parameter_count)).iter()
                        .map(|pair| (String::from_utf8_lossy(pair.0).into_owned(), String::from_utf8_lossy(pair.1).into_owned()))
                        .collect(),
                }));
            } else if progress.start.is_none() {
                return Err(Error::unsupported("an event arrived before the flow was started"));
            } else {
                progress.event = Some(event);
            }
        }
        let future = running.future.as_mut().ok_or_else(|| Error::internal("the flow has finished already"))?;
        let waker = Waker::from(Arc::new(NoWaker));
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending if locked(&running.progress).has_acted => Ok(abi::OK),
            Poll::Pending => Err(Error::internal("the flow awaits something that is no action of a flow")),
            Poll::Ready(result) => {
                running.future = None;
                result.map(|token| ((*actions).token)((*actions).host, &token.raw()))
            }
        }
    });
    let mut progress = locked(&running.progress);
    progress.actions = ptr::null();
    progress.event = None;
    result.unwrap_or_else(|status| status)
}

unsafe extern "C" fn flow_free<S: FlowScheme>(_instance: *mut c_void, flow: *mut c_void) {
    quietly(|| drop(Box::from_raw(flow as *mut Running)))
}

// ---------------------------------------------------------------------------------------------------------------------
// The tables. They live until the process ends, so their memory is never freed.

/// A scheme in the contract's form.
pub struct Export(abi::nevod_scheme);

fn leaked<T>(items: Vec<T>) -> *const T {
    Box::leak(items.into_boxed_slice()).as_ptr()
}

fn declared(settings: &'static [Setting]) -> *const *const abi::nevod_setting {
    leaked(settings.iter().map(|setting| {
        &*Box::leak(Box::new(abi::nevod_setting {
            struct_size: std::mem::size_of::<abi::nevod_setting>() as u32,
            kind: setting.kind,
            flags: setting.flags,
            choice_count: setting.choices.len() as u32,
            choices: leaked(setting.choices.iter().map(|choice| bytes(choice.as_bytes())).collect()),
            name: bytes(setting.name.as_bytes()),
            default_value: bytes(setting.default.as_bytes()),
            help: bytes(setting.help.as_bytes()),
        })) as *const _
    }).collect())
}

/// Exports a scheme without flows: its settings are its credential.
pub fn scheme<S: Scheme>() -> Export {
    Export(abi::nevod_scheme {
        struct_size: std::mem::size_of::<abi::nevod_scheme>() as u32,
        flags: S::FLAGS,
        context: ptr::null_mut(),
        id: bytes(S::ID.as_bytes()),
        title: bytes(S::TITLE.as_bytes()),
        settings: declared(S::SETTINGS),
        parameters: declared(S::PARAMETERS),
        setting_count: S::SETTINGS.len() as u32,
        parameter_count: S::PARAMETERS.len() as u32,
        create: Some(create::<S>),
        destroy: Some(destroy::<S>),
        needs: Some(needs::<S>),
        token_decode: Some(token_decode::<S>),
        token_free: Some(token_free::<S>),
        authorize: Some(authorize::<S>),
        on_response: Some(on_response::<S>),
        flow_begin: None,
        flow_step: None,
        flow_free: None,
        body_piece: Some(body_piece::<S>),
        body_free: Some(body_free::<S>),
    })
}

/// Exports a scheme with flows.
pub fn flow_scheme<S: FlowScheme>() -> Export {
    let mut export = scheme::<S>();
    export.0.flow_begin = Some(flow_begin::<S>);
    export.0.flow_step = Some(flow_step::<S>);
    export.0.flow_free = Some(flow_free::<S>);
    export
}

/// Makes the plugin's table. For `nevod_plugin!`, which calls it once.
pub fn plugin(name: &'static str, version: &'static str, vendor: &'static str, schemes: Vec<Export>) -> *const abi::nevod_plugin {
    let count = schemes.len() as u32;
    let schemes = leaked(schemes.into_iter().map(|export| &*Box::leak(Box::new(export.0)) as *const _).collect());
    Box::leak(Box::new(abi::nevod_plugin {
        struct_size: std::mem::size_of::<abi::nevod_plugin>() as u32,
        abi_major: abi::MAJOR,
        abi_draft: abi::DRAFT,
        abi_minor: 0,
        schemes,
        scheme_count: count,
        reserved: 0,
        name: bytes(name.as_bytes()),
        version: bytes(version.as_bytes()),
        vendor: bytes(vendor.as_bytes()),
        get_extension: None,
    }))
}

/// Defines `nevod_plugin_v1`, the one symbol that a plugin exports.
#[macro_export]
macro_rules! nevod_plugin {
    (name: $name:expr, version: $version:expr, vendor: $vendor:expr, schemes: [$($scheme:expr),+ $(,)?] $(,)?) => {
        #[no_mangle]
        pub extern "C" fn nevod_plugin_v1() -> *const $crate::nevod_plugin::abi::nevod_plugin {
            static ONCE: std::sync::Once = std::sync::Once::new();
            static TABLE: std::sync::atomic::AtomicPtr<$crate::nevod_plugin::abi::nevod_plugin> =
                std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
            ONCE.call_once(|| {
                let table = $crate::nevod_plugin::plugin($name, $version, $vendor, vec![$($scheme),+]);
                TABLE.store(table as *mut _, std::sync::atomic::Ordering::Release);
            });
            TABLE.load(std::sync::atomic::Ordering::Acquire)
        }
    };
}
