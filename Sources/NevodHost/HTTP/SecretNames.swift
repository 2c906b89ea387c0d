/// The names under which credentials travel: of header fields, query items, and members of JSON and form bodies. Redaction, the
/// removal of credentials before another origin, and the cache's separation of users take them from here.
package enum SecretNames {
    /// Request fields that are credentials, also if the caller wrote them (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). In lower case.
    package static let requestFields: Set<String> = ["authorization", "proxy-authorization", "cookie"]

    /// Response fields that are credentials (RFC 6265 §4.1, RFC 2965 §3.2.2). In lower case.
    package static let responseFields: Set<String> = ["set-cookie", "set-cookie2"]

    /// The names of secrets in OAuth 2, cookies, signatures and the common schemes of API keys. A pattern with a star at either end
    /// matches anywhere in a name, one without matches the whole name.
    package static let patterns = [
        "*authorization*", "*cookie*", "*token*", "*secret*", "*password*", "*passwd*", "*passphrase*", "*api-key*",
        "*signature*", "*credential*", "*private-key*", "*access-key*", "*session-id*", "*assertion*", "*jwt*", "SAMLResponse",
        "code", "code_verifier", "device_code", "user_code", "key", "sig", "sid", "session", "pin", "otp", "auth", "pass", "pwd",
    ]

    /// Names in OAuth 2 whose values describe a token and aren't secret (RFC 6749 §5.1, RFC 7009 §2.1, RFC 8414 §2).
    package static let harmless = [
        "token_type", "token_type_hint", "token_endpoint", "issued_token_type", "id_token_signing_alg_values_supported",
    ]

    /// Parts of names that may belong to a credential, in lower case: wider than ``patterns``, for where a name too many costs
    /// little, and one too few shows a user another user's response.
    package static let wideParts = [
        "auth", "cookie", "credential", "key", "passw", "secret", "session", "signature", "token",
    ]
}
