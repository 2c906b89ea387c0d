internal import COpenSSL
internal import NevodSupport

/// The secret of one login that only the program which has begun it knows, so that a stolen authorization code is of no use
/// (RFC 7636).
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

    /// Restores a verifier, as after the page that has begun the login was loaded again.
    ///
    /// - Throws: ``OAuthError`` for a text that isn't 43 to 128 letters, digits and `-._~`.
    public init(_ text: String) throws(OAuthError) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isUnreserved) else {
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
            let bytes = Array(text.utf8)
            var digest = [UInt8](repeating: 0, count: 32)
            guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else {
                throw OAuthError(.invalidSetting, "libcrypto can't compute SHA-256, which PKCE needs")
            }
            return Base64.encoded(digest, .url, padded: false)
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
