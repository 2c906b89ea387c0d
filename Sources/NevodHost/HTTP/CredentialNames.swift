internal import NevodSupport

/// Names that mark a value as a credential: of header fields, query items, and members of JSON and form bodies.
///
/// The whole project uses these names: redirects to another origin leave out header lines with these names, the cache keeps users
/// apart by them, and logs and the command line redact their values. ``RedactedNames`` adds a program's own names, for logs only.
///
/// Only letters and digits are compared, ignoring case: `api-key` matches `apiKey` and `API_KEY`. A pattern with a star at either
/// end, `*token*`, matches anywhere in a name. A pattern without a star matches the whole name, or one of its parts between dots
/// or brackets (`user[code]`).
package struct CredentialNames: Sendable, Hashable {
    private var whole: Set<[UInt8]> = []
    private var parts: Set<[UInt8]> = []

    /// - Parameter patterns: patterns of names; a star at either end lets one match parts of names. Patterns without a letter or
    ///   digit are ignored.
    init(_ patterns: some Sequence<String>) {
        for pattern in patterns {
            let name = Self.normalized(pattern.utf8)
            guard !name.isEmpty else { continue }
            if pattern.hasPrefix("*") || pattern.hasSuffix("*") { parts.insert(name) } else { whole.insert(name) }
        }
    }

    mutating func formUnion(_ others: CredentialNames) {
        whole.formUnion(others.whole)
        parts.formUnion(others.parts)
    }

    package func contains(_ name: some Sequence<UInt8>) -> Bool {
        let name = Array(name)
        let all = Self.normalized(name)
        guard !all.isEmpty, !Self.harmless.contains(all) else { return false }
        if whole.contains(all) || parts.contains(where: { all.holds($0) }) { return true }
        return name.split { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: ".") }
            .contains { whole.contains(Self.normalized($0)) }
    }

    private static func normalized(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.map(\.lowercased).filter { $0 >= 0x80 || $0.isAlphanumeric }
    }
}

extension CredentialNames {
    /// The names of secrets in OAuth 2, cookies, signatures and the common schemes of API keys.
    package static let standard = CredentialNames([
        "*authorization*", "*cookie*", "*token*", "*secret*", "*password*", "*passwd*", "*passphrase*", "*api-key*",
        "*signature*", "*credential*", "*private-key*", "*access-key*", "*auth-key*", "*client-key*", "*session-key*",
        "*shared-key*",
        "*subscription-key*", "*session-id*", "*assertion*", "*jwt*", "*bearer*", "*passcode*", "*saml*", "x-auth", "x-key",
        "x-session", "code", "code_verifier", "device_code", "user_code", "key", "sig", "sid", "x-sid", "session", "pin", "x-pin",
        "otp", "x-otp", "totp", "auth", "pass", "x-pass", "pwd", "dpop", "ticket", "x-ticket",
    ])

    /// Names in OAuth 2 whose values describe a token and aren't secret (RFC 6749 §5.1, RFC 7009 §2.1, RFC 8414 §2).
    private static let harmless = Set(
        ["token_type", "token_type_hint", "token_endpoint", "issued_token_type", "id_token_signing_alg_values_supported"]
            .map { normalized($0.utf8) })

    /// Header fields that are always credentials, even in the logs of a program that chose other names (RFC 9110 §11.6.2,
    /// §11.7.2, RFC 6265 §4.2). In lower case. All of them are ``standard`` names too.
    static let fields = responseFields.union(["authorization", "proxy-authorization", "cookie"])

    /// Response fields that set cookies (RFC 6265 §4.1, RFC 2965 §3.2.2). In lower case.
    static let responseFields: Set<String> = ["set-cookie", "set-cookie2"]
}

extension [UInt8] {
    /// Whether a text that isn't empty occurs in this one.
    func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        return (0...count - part.count).contains { self[$0] == first && self[$0...].starts(with: part) }
    }
}
