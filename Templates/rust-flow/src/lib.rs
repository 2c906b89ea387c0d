//! A login with user and password. The server issues an access token, sent on requests, and a renewal, exchanged for a new pair.
#![allow(non_snake_case)] // the library's name

mod nevod_plugin;
use nevod_plugin::*;
use std::sync::Arc;

/// The server's response to `Accept: text/plain`: the access token, the renewal, and the access token's lifetime in seconds, each
/// on a line. The host stores its bytes.
struct Tokens {
    authorization: Secret,
    renewal: Secret,
    seconds: i64,
}

impl Token for Tokens {
    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let lines: Vec<_> = std::str::from_utf8(bytes).map(|text| text.lines().collect()).unwrap_or_default();
        match lines[..] {
            [access, renewal, seconds] if !access.is_empty() => Ok(Tokens {
                authorization: Secret::new(format!("Bearer {access}")),
                renewal: Secret::new(renewal),
                seconds: seconds.parse().unwrap_or(0),
            }),
            _ => Err(Error::bad_token("it is not of three lines")),
        }
    }
}

struct AcmeKeysAuth {
    server: String,
}

impl AcmeKeysAuth {
    fn post(&self, path: &str, fields: &[(&str, &[u8])]) -> Request {
        Request::post_form(format!("{}{path}", self.server), fields).header("Accept", "text/plain")
    }

    async fn post_renewal(&self, flow: &Flow, path: &str) -> Result<Response, Error> {
        let start = flow.start()?;
        let token = Tokens::decode(start.token.as_ref().map_or(&[], |token| token.as_bytes()))?;
        flow.send(self.post(path, &[("renewal", token.renewal.as_bytes())])).await
    }

    /// The token of a response, or `refusal` for a status that rejects it for good.
    fn issued(response: &Response, unix_time_ns: i64, refusal: Error) -> Result<Issued, Error> {
        match response.status {
            200 => {
                let seconds = Tokens::decode(response.body.as_bytes())?.seconds.clamp(0, 1_000_000_000);
                Ok(Issued::new(response.body.as_bytes()).expires_at_unix_ns(unix_time_ns + seconds * 1_000_000_000))
            }
            401 | 403 => Err(refusal),
            status => Err(Error::unavailable(format!("the server responded with {status}"))),
        }
    }
}

impl Scheme for AcmeKeysAuth {
    const ID: &'static str = "acme-keys";
    const TITLE: &'static str = "A login with renewal";
    const SETTINGS: &'static [Setting] = &[Setting::url("server", "Where to log in").required()];
    type Token = Tokens;

    fn create(settings: &Settings, _host: Host) -> Result<Self, Error> {
        Ok(AcmeKeysAuth { server: settings.text("server").trim_end_matches('/').into() })
    }

    fn authorize(&self, request: &View, token: Option<&Tokens>, edits: &Edits) -> Result<(), Error> {
        if request.is_proxy() {
            return Err(Error::unsupported("this credential is for a server, not for a proxy"));
        }
        let token = token.ok_or_else(|| Error::bad_token("there is no token yet: log in first"))?;
        edits.set_header("Authorization", token.authorization.as_bytes());
        Ok(())
    }
}

impl FlowScheme for AcmeKeysAuth {
    fn login(self: Arc<Self>, flow: Flow) -> FlowFuture {
        Box::pin(async move {
            let answers = flow.ask(&[Question::text("user", "User"), Question::secret("password", "Password")]).await?;
            let fields = [("user", answers.get("user")), ("password", answers.get("password"))];
            let response = flow.send(self.post("/login", &fields)).await?;
            Self::issued(&response, flow.unix_time_ns(), Error::denied("the server refused it"))
        })
    }

    fn refresh(self: Arc<Self>, flow: Flow) -> Option<FlowFuture> {
        Some(Box::pin(async move {
            let response = self.post_renewal(&flow, "/renew").await?;
            Self::issued(&response, flow.unix_time_ns(), Error::bad_token("the server refused it"))
        }))
    }

    fn logout(self: Arc<Self>, flow: Flow) -> Option<FlowFuture> {
        Some(Box::pin(async move {
            self.post_renewal(&flow, "/logout").await?;
            Ok(Issued::nothing())
        }))
    }
}

nevod_plugin! { name: "AcmeKeysAuth", version: "0.1.0", vendor: "you", schemes: [flow_scheme::<AcmeKeysAuth>()] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_three_lines() {
        let token = Tokens::decode(b"a1\nr1\n60\n").ok().unwrap();
        assert_eq!(token.authorization.as_str(), Some("Bearer a1"));
        assert_eq!(token.renewal.as_str(), Some("r1"));
        assert_eq!(token.seconds, 60);
    }

    #[test]
    fn no_tokens() {
        for bytes in [&b""[..], b"a1", b"\n\n\n", b"a1\nr1\n60\nmore", b"\xff\n\xff\n\xff"] {
            assert!(Tokens::decode(bytes).is_err());
        }
    }
}
