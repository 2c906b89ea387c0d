//! Sends a key, its secret and the time as header lines.
#![allow(non_snake_case)] // the library's name

mod nevod_plugin;
use nevod_plugin::*;

struct AcmeKeysAuth {
    key: String,
    secret: Secret,
}

impl AcmeKeysAuth {
    fn new(key: &str, secret: Secret) -> Result<Self, Error> {
        if key.is_empty() {
            return Err(Error::bad_settings("key", "must not be empty"));
        }
        if secret.is_empty() {
            return Err(Error::bad_settings("secret", "must not be empty"));
        }
        Ok(AcmeKeysAuth { key: key.into(), secret })
    }

    fn lines(&self, unix_time_ns: i64) -> [(&'static str, Secret); 3] {
        [
            ("X-Key", Secret::new(self.key.as_bytes())),
            ("X-Secret", Secret::new(self.secret.as_bytes())),
            ("X-Time", Secret::new((unix_time_ns / 1_000_000_000).to_string())),
        ]
    }
}

impl Scheme for AcmeKeysAuth {
    const ID: &'static str = "acme-keys";
    const TITLE: &'static str = "A key, its secret and the time";
    const SETTINGS: &'static [Setting] = &[
        Setting::text("key", "Sent in X-Key").required(),
        Setting::text("secret", "Sent in X-Secret").required().secret(),
    ];
    type Token = ();

    fn create(settings: &Settings, _host: Host) -> Result<Self, Error> {
        AcmeKeysAuth::new(settings.text("key"), settings.secret("secret"))
    }

    fn authorize(&self, request: &View, _token: Option<&()>, edits: &Edits) -> Result<(), Error> {
        if request.is_proxy() {
            return Err(Error::unsupported("this credential is for a server, not for a proxy"));
        }
        for (name, value) in self.lines(request.unix_time_ns()) {
            edits.set_header(name, value.as_bytes());
        }
        Ok(())
    }
}

nevod_plugin! { name: "AcmeKeysAuth", version: "0.1.0", vendor: "you", schemes: [scheme::<AcmeKeysAuth>()] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lines() {
        let scheme = AcmeKeysAuth::new("me", Secret::new("s3cret")).ok().unwrap();
        let lines = scheme.lines(1_767_225_600_000_000_000);
        let lines: Vec<_> = lines.iter().map(|(name, value)| (*name, value.as_str().unwrap())).collect();
        assert_eq!(lines, [("X-Key", "me"), ("X-Secret", "s3cret"), ("X-Time", "1767225600")]);
    }

    #[test]
    fn empty_settings() {
        assert!(AcmeKeysAuth::new("", Secret::new("s3cret")).is_err());
        assert!(AcmeKeysAuth::new("me", Secret::new("")).is_err());
    }
}
