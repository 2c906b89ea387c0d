//! Hawk, as a NevodHost plugin in Rust: a MAC over the request and its body, with the server's clock. From the root of the repository:
//!
//! rustc --edition 2021 --crate-type cdylib -O -C strip=symbols -l crypto -o libHawkRust.so Examples/schemes/rust-hawk/hawk.rs
//!
//! Needs OpenSSL. Part of NevodHost. MIT licence.

#[path = "../../../Bindings/Rust/nevod_plugin.rs"]
mod nevod_plugin;

use nevod_plugin::*;
use std::ffi::c_void;

extern "C" {
    fn EVP_sha256() -> *const c_void;
    fn SHA256(bytes: *const u8, count: usize, digest: *mut u8) -> *mut u8;
    fn HMAC(algorithm: *const c_void, key: *const c_void, key_count: i32, bytes: *const u8, count: usize, mac: *mut u8,
        mac_count: *mut u32) -> *mut u8;
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    unsafe { SHA256(bytes.as_ptr(), bytes.len(), digest.as_mut_ptr()) };
    digest
}

struct Hawk {
    id: String,
    key: Secret,
    ext: String,
}

impl Hawk {
    fn mac(&self, text: &str) -> Result<String, Error> {
        let (key, mut mac, mut count) = (self.key.as_bytes(), [0; 32], 32);
        let done = unsafe {
            HMAC(EVP_sha256(), key.as_ptr().cast(), key.len() as i32, text.as_ptr(), text.len(), mac.as_mut_ptr(), &mut count)
        };
        if done.is_null() { Err(Error::internal("OpenSSL could not compute the MAC")) } else { Ok(base64(&mac)) }
    }
}

impl Scheme for Hawk {
    const ID: &'static str = "hawk";
    const TITLE: &'static str = "Hawk";
    const SETTINGS: &'static [Setting] = &[
        Setting::text("id", "The client's name at the server").required(),
        Setting::text("key", "The key shared with the server").required().secret(),
        Setting::text("ext", "Data of the application, sent with each request"),
    ];
    type Token = ();

    fn create(settings: &Settings, _host: Host) -> Result<Hawk, Error> {
        let hawk = Hawk { id: settings.text("id").into(), key: settings.secret("key"), ext: settings.text("ext").into() };
        for (name, value) in [("id", &hawk.id), ("ext", &hawk.ext)] {
            if value.contains(|letter: char| !(' '..='~').contains(&letter) || letter == '"' || letter == '\\') {
                return Err(Error::bad_settings(name, "must be printable ASCII without quotes and backslashes"));
            }
        }
        if hawk.key.is_empty() || hawk.key.as_bytes().len() > 4096 {
            return Err(Error::bad_settings("key", "must have 1 to 4096 bytes"));
        }
        Ok(hawk)
    }

    fn needs(&self) -> Needs {
        Needs { flags: Needs::BODY | Needs::HEADERS | Needs::RANDOM | Needs::STATE | Needs::CHALLENGES, ..Needs::default() }
    }

    fn authorize(&self, request: &View, _token: Option<&()>, edits: &Edits) -> Result<(), Error> {
        if request.is_proxy() || (request.has_body() && request.body().is_none()) {
            return Err(Error::unsupported("Hawk signs requests to a server whose body is in memory"));
        }
        let body = request.body().unwrap_or(&[]);
        let content_type = String::from_utf8_lossy(request.headers().header("content-type").unwrap_or(&[])).to_ascii_lowercase();
        let content_type = content_type.split(';').next().unwrap_or("").trim();
        let payload = Secret::new([format!("hawk.1.payload\n{content_type}\n").as_bytes(), body, b"\n"].concat());
        let hash = base64(&sha256(payload.as_bytes()));
        let random = request.random().get(..9).ok_or_else(|| Error::internal("the host gave no random bytes"))?;
        let nonce = base64(random); // of 12 letters, without padding
        let (host, port) = host_and_port(request);
        let time = request.unix_time_ns() / 1_000_000_000 + offset(request.state());
        let (id, ext, method, target) = (&self.id, &self.ext, request.method(), request.target());
        let mac = self.mac(&format!("hawk.1.header\n{time}\n{nonce}\n{method}\n{target}\n{host}\n{port}\n{hash}\n{ext}\n"))?;
        let ext = if ext.is_empty() { String::new() } else { format!(r#", ext="{ext}""#) };
        edits.set_header("Authorization", format!(r#"Hawk id="{id}", ts="{time}", nonce="{nonce}", hash="{hash}"{ext}, mac="{mac}""#));
        Ok(())
    }

    /// A server with another clock sends its time, and proves with the key that it is genuine. The state is the difference.
    fn on_response(&self, request: &View, _token: Option<&()>, response: &Response, replies: &Replies) -> Result<Verdict, Error> {
        for challenge in response.headers("www-authenticate").filter_map(|line| std::str::from_utf8(line).ok()) {
            let (time, proof) = (parameter(challenge, "ts"), parameter(challenge, "tsm"));
            let time = match time.parse::<i64>() {
                Ok(time) if (0..=253_402_300_799).contains(&time) => time,
                _ => continue,
            };
            let change = time - request.unix_time_ns() / 1_000_000_000;
            if !same(proof, &self.mac(&format!("hawk.1.ts\n{time}\n"))?) || (change - offset(request.state())).abs() < 5 {
                continue;
            }
            replies.set_state(change.to_string().as_bytes());
            return Ok(Verdict::RetryOnce);
        }
        Ok(Verdict::Nothing)
    }
}

fn offset(state: &[u8]) -> i64 {
    std::str::from_utf8(state).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn host_and_port(request: &View) -> (String, String) {
    let authority = request.authority().to_ascii_lowercase();
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host.into(), port.into()),
        _ => (authority, if request.scheme() == "https" { "443" } else { "80" }.into()),
    }
}

/// The value of a parameter of a Hawk challenge, or "".
fn parameter<'a>(challenge: &'a str, name: &str) -> &'a str {
    let (scheme, list) = challenge.split_once(' ').unwrap_or(("", ""));
    let list = if scheme.eq_ignore_ascii_case("hawk") { list } else { "" };
    let pairs = list.split(',').filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|pair| pair.0 == name).map(|pair| pair.1.trim_matches('"')).next().unwrap_or("")
}

/// Takes the same time wherever the two differ.
fn same(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.bytes().zip(right.bytes()).fold(0, |sum, pair| sum | (pair.0 ^ pair.1)) == 0
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |group: &[u8]| {
        let bits = group.iter().chain([0, 0].iter()).take(3).fold(0, |bits, &byte| bits << 8 | usize::from(byte));
        (0..4).map(move |at| if at <= group.len() { LETTERS[bits >> (18 - 6 * at) & 63] as char } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(letters).collect()
}

nevod_plugin! { name: "HawkRust", version: "1.0.0", vendor: "NevodHost", schemes: [scheme::<Hawk>()] }
