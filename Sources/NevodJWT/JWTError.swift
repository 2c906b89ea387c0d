/// Why a token or a key isn't accepted. Names the culprit (a part, a header parameter, a claim, a member of a key), but shows
/// nothing that a token contains.
public struct JWTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of refusal.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // The text
        /// Not a token in the compact form (RFC 7515 §3.1), or a header or claims that aren't valid JSON objects.
        case malformed
        /// The token, a key set or an array of keys is larger than this library reads.
        case tooLarge
        /// An encrypted token (JWE, RFC 7516), which has five parts.
        case encrypted
        /// A token within a token (RFC 7519 §5.2), or a compressed one.
        case nested
        /// The header has a critical extension (RFC 7515 §4.1.11), or `b64` (RFC 7797).
        case critical
        // Keys and the signature
        /// The verifier doesn't accept the token's algorithm. `none` is never accepted.
        case algorithm
        /// A key that can't be used: malformed, too short, of an unknown kind, or for another purpose.
        case key
        /// No key fits the token's algorithm and key identifier.
        case noKey
        /// The signature isn't valid. The message is the same for each cause.
        case signature
        // The claims
        /// The time of `exp` has passed.
        case expired
        /// The time of `nbf` or `iat` is in the future.
        case notYetValid
        /// `iss` is missing, or names another issuer.
        case issuer
        /// `aud` is missing, or doesn't contain the expected audience.
        case audience
        /// The header's `typ` is missing, or isn't the expected one.
        case type
        /// A required claim is missing.
        case missingClaim
        /// A claim has a value of the wrong kind or range.
        case claim
    }

    /// The kind of refusal.
    public let code: Code
    /// The cause, in words.
    public let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
