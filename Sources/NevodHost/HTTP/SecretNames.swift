/// The names under which credentials travel: of header fields, query items, and members of JSON and form bodies. The one list of the
/// project: redaction in logs and on the command line, the removal of credentials before another origin, and the cache's separation
/// of users take them from here.
package enum SecretNames {
    /// Request fields that are credentials, also if the caller wrote them (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). In lower case.
    package static let requestFields: Set<String> = ["authorization", "proxy-authorization", "cookie"]

    /// Response fields that are credentials (RFC 6265 §4.1, RFC 2965 §3.2.2). In lower case.
    package static let responseFields: Set<String> = ["set-cookie", "set-cookie2"]

    /// The names of secrets in OAuth 2, cookies, signatures and the common schemes of API keys. A pattern with a star at either end
    /// matches anywhere in a name, one without matches the whole name.
    package static let patterns = [
        "*authorization*", "*cookie*", "*token*", "*secret*", "*password*", "*passwd*", "*passphrase*", "*api-key*",
        "*signature*", "*credential*", "*private-key*", "*access-key*", "*auth-key*", "*client-key*", "*session-key*",
        "*shared-key*",
        "*subscription-key*", "*session-id*", "*assertion*", "*jwt*", "*bearer*", "*passcode*", "*saml*", "x-auth", "x-key",
        "x-session", "code", "code_verifier", "device_code", "user_code", "key", "sig", "sid", "x-sid", "session", "pin", "x-pin",
        "otp", "x-otp", "totp", "auth", "pass", "x-pass", "pwd", "dpop", "ticket", "x-ticket",
    ]

    /// Names in OAuth 2 whose values describe a token and aren't secret (RFC 6749 §5.1, RFC 7009 §2.1, RFC 8414 §2).
    package static let harmless = [
        "token_type", "token_type_hint", "token_endpoint", "issued_token_type", "id_token_signing_alg_values_supported",
    ]
}
