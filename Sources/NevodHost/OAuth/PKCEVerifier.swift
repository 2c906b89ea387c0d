internal import NevodOAuth
internal import NevodSupport

/// The secret of one login. Only the program that began the login knows it, so that a stolen authorization code is useless (RFC
/// 7636).
///
/// ```swift
/// let verifier = PKCEVerifier()
/// let url = try await client.authorizationURL(state: state, verifier: verifier, redirectURI: redirectURI)
/// ```
public struct PKCEVerifier: Sendable, Hashable, Redacted {
    /// The verifier as it is sent with the code: 43 to 128 characters (RFC 7636 §4.1). Secret until then.
    public let text: String

    /// Creates a verifier of 256 random bits.
    public init() {
        text = RandomText.make()
    }

    /// Restores a verifier, for example after the page that began the login was reloaded.
    ///
    /// - Throws: ``OAuthError`` for a text that isn't 43 to 128 letters, digits and `-._~`.
    public init(_ text: String) throws(OAuthError) {
        guard PKCE.isVerifier(text) else {
            throw OAuthError(
                .invalidSetting,
                "a PKCE verifier has 43 to 128 letters, digits and -._~ (RFC 7636 §4.1); make one with PKCEVerifier()")
        }
        self.text = text
    }

    /// The challenge of the method `S256`: the verifier's SHA-256 in base64url (RFC 7636 §4.2). It isn't secret.
    ///
    /// - Throws: ``OAuthError`` if libcrypto has no SHA-256.
    public var challenge: String {
        get throws(OAuthError) {
            guard let proof = PKCE(verifier: Secret(text)) else {
                throw OAuthError(.invalidSetting, "libcrypto can't compute SHA-256, which PKCE needs")
            }
            return proof.challenge
        }
    }
}

/// Random text that can't be guessed, for a login's state and verifier.
enum RandomText {
    /// Returns 256 bits of the system's random number generator as 43 letters, digits, `-` and `_`.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }
        return Base64.encoded(bytes, .url, padded: false)
    }
}
