public import NevodSupport

/// A token in the compact form (RFC 7515 §3.1), parsed but not verified: anyone could have written it.
///
/// For what a client shows or plans by, such as a name or the time of the next renewal. What decides about access needs a
/// ``JWTVerifier``. The signature isn't kept, so a parsed token can't be used as a credential, and it prints without its claims.
///
/// Refused are texts of more than 64 KiB, other than three parts, base64 that isn't canonical, names that occur twice, critical extensions
/// (`crit`), encrypted tokens, and tokens within tokens.
public struct JSONWebToken: Sendable, Hashable {
    /// The header.
    public let header: JWTHeader
    /// The claims, which nothing vouches for.
    public let unverifiedClaims: JWTClaims

    /// Parses a token.
    ///
    /// - Parameter text: without white space, and without `Bearer`.
    /// - Throws: one of ``JWTError/Code-swift.enum/malformed``, ``JWTError/Code-swift.enum/tooLarge``,
    ///   ``JWTError/Code-swift.enum/encrypted``, ``JWTError/Code-swift.enum/nested`` and ``JWTError/Code-swift.enum/critical``.
    public init(_ text: String) throws(JWTError) {
        self = try text.withToken { text throws(JWTError) in try JSONWebToken(text) }
    }

    /// Parses a token that is kept as a secret.
    public init(_ text: Secret) throws(JWTError) {
        self = try text.withUnsafeBytes { text throws(JWTError) in try JSONWebToken(text) }
    }

    private init(_ text: UnsafeRawBufferPointer) throws(JWTError) {
        let parsed = try CompactJWS(text)
        header = parsed.header
        unverifiedClaims = try JWTClaims(json: parsed.payload)
    }
}

extension JSONWebToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// The algorithm, if it is known, and the number of claims.
    public var description: String { "JSONWebToken(\(header), \(unverifiedClaims))" }
    public var debugDescription: String { description }
}

#if !hasFeature(Embedded)
    extension JSONWebToken: CustomReflectable {
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif

extension String {
    /// Lends the text's bytes.
    func withToken<Result>(_ body: (UnsafeRawBufferPointer) throws(JWTError) -> Result) throws(JWTError) -> Result {
        var text = self
        let result = text.withUTF8 { bytes in
            Swift.Result { () throws(JWTError) in try body(UnsafeRawBufferPointer(bytes)) }
        }
        return try result.get()
    }
}
