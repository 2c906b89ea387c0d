//! A plugin whose calls fail in every way that is possible in Rust, for test_languages.py.
#[path = "../../Bindings/Rust/nevod_plugin.rs"]
mod nevod_plugin;

use nevod_plugin::*;
use std::sync::Arc;

struct Faults {
    mode: String,
    host: Host,
}

struct Upper;

impl Wrapping for Upper {
    fn piece(&mut self, piece: &[u8], _is_last: bool, output: &Output) -> Result<(), Error> {
        output.write(&piece.to_ascii_uppercase())
    }
}

struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("a panic's own destructor panics");
    }
}

fn deeper(depth: u64) -> u64 {
    let kept = [depth; 64];
    let first = unsafe { std::ptr::read_volatile(&kept[0]) }; // keeps the array on the stack
    if first == u64::MAX { 0 } else { deeper(depth + 1) ^ unsafe { std::ptr::read_volatile(&kept[1]) } }
}

impl Scheme for Faults {
    const ID: &'static str = "faults";
    const TITLE: &'static str = "Faults";
    const FLAGS: u32 = INTERACTIVE;
    const SETTINGS: &'static [Setting] = &[Setting::text("mode", "How to fail").required()];
    type Token = Secret;

    fn create(settings: &Settings, host: Host) -> Result<Self, Error> {
        assert_ne!(settings.text("mode"), "create", "a text for the detail");
        Ok(Faults { mode: settings.text("mode").into(), host })
    }

    fn needs(&self) -> Needs {
        match self.mode.as_str() {
            "wrap" => Needs { flags: Needs::REPLACE_BODY, digests: &["sha-256"], ..Needs::default() },
            _ => Needs {
                flags: Needs::CHALLENGES | Needs::OTHER_RESPONSES | Needs::STATE, challenge_statuses: &[418], ..Needs::default()
            },
        }
    }

    /// A retry has the state.
    fn on_response(&self, request: &View, _token: Option<&Secret>, response: &Response, replies: &Replies) -> Result<Verdict, Error> {
        if self.mode == "refuse" {
            return Err(Error::unavailable(format!("refused: {}", response.header("x-why"))));
        }
        if response.status == 418 && request.state().is_empty() {
            replies.set_state(b"tea");
            return Ok(Verdict::RetryOnce);
        }
        Ok(Verdict::Nothing)
    }

    fn authorize(&self, request: &View, token: Option<&Secret>, edits: &Edits) -> Result<(), Error> {
        match self.mode.as_str() {
            "panic" => panic!("a text for the detail"),
            "payload" => std::panic::panic_any(Loud),
            "index" => edits.set_header("X-Index", [0u8][self.mode.len()..].to_vec()),
            "stack" => edits.set_header("X-Depth", deeper(0).to_string()),
            "exit" => std::process::exit(0),
            "wrap" => {
                edits.set_header("X-Digest", request.digest("sha-256").map_or(0, |digest| digest.len()).to_string());
                edits.wrap_body(3, Box::new(Upper));
            }
            _ => self.host.log(Level::Warning, "calm"),
        }
        edits.set_header("X-State", request.state());
        edits.set_header("X-Token", token.map_or(&b"none"[..], |token| token.as_bytes()));
        Ok(())
    }
}

impl FlowScheme for Faults {
    fn login(self: Arc<Self>, flow: Flow) -> FlowFuture {
        Box::pin(async move {
            match self.mode.as_str() {
                "login-panic" => panic!("a text for the detail"),
                "login-pending" => std::future::pending::<()>().await,
                _ => {}
            }
            let answers = match flow.listen("/callback").await {
                Err(error) if error.is_unsupported() => return Err(error),
                _ => flow.ask(&[Question::text("a", "A")]).await?,
            };
            Ok(Issued::new(answers.get("a")))
        })
    }
}

nevod_plugin! { name: "Faults", version: "1.0.0", vendor: "Tests", schemes: [flow_scheme::<Faults>()] }
