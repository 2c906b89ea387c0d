public import NevodSupport

/// A token in the compact form (RFC 7515 §3.1), parsed but not verified: anyone could have written it.
///
/// Use it for what a client shows or plans, such as a name or the time of the next renewal. To decide about access, use a
/// ``JWTVerifier``. The signature isn't kept, so a parsed token can't be used as a credential. It prints without its claims.
///
/// Refuses texts that are longer than 64 KiB or don't have three parts, non-canonical base64, duplicate names, critical
/// extensions (`crit`), encrypted tokens, and tokens within tokens.
public struct JSONWebToken: Sendable, Hashable {
    /// The header.
    public let header: JWTHeader
    /// The claims, which are not verified.
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
    /// Calls `body` with the text's bytes.
    func withToken<Result>(_ body: (UnsafeRawBufferPointer) throws(JWTError) -> Result) throws(JWTError) -> Result {
        var text = self
        let result = text.withUTF8 { bytes in
            Swift.Result { () throws(JWTError) in try body(UnsafeRawBufferPointer(bytes)) }
        }
        return try result.get()
    }
}

/// A signed payload in the compact form (RFC 7515 §3.1). The payload may be any bytes.
struct CompactJWS: ~Copyable {
    /// The length of the longest text that is read, in bytes.
    static let sizeLimit = 64 << 10

    let header: JWTHeader
    let payload: [UInt8]
    /// The number of signed bytes at the text's beginning: header, dot and payload, as they were sent.
    let signedCount: Int
    /// Wiped on deinit: anyone who has the rest of the token lacks only the signature to use it.
    let signature: UnsafeMutableRawBufferPointer

    init(_ text: UnsafeRawBufferPointer) throws(JWTError) {
        guard text.count <= Self.sizeLimit else {
            throw JWTError(.tooLarge, "the token has more than \(Self.sizeLimit) bytes")
        }
        let parts = try Self.parts(text)
        let header = try JWTHeader(json: Self.decoded(parts.header, "header"))
        let payload = try Self.decoded(parts.payload, "payload")
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: (parts.signature.count + 3) / 4 * 3, alignment: 1)
        guard let count = Base64.decode(parts.signature, .strictURL, to: memory) else {
            memory.wipe()
            memory.deallocate()
            throw Self.notBase64("signature")
        }
        self.header = header
        self.payload = payload
        signedCount = parts.header.count + 1 + parts.payload.count
        signature = UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: count)
    }

    deinit {
        signature.wipe()
        signature.baseAddress?.deallocate()
    }

    private struct Parts {
        let header: UnsafeRawBufferPointer
        let payload: UnsafeRawBufferPointer
        let signature: UnsafeRawBufferPointer
    }

    private static func parts(_ text: UnsafeRawBufferPointer) throws(JWTError) -> Parts {
        let (dots, count) = dots(text)
        switch count {
        case 2: break
        case 4: throw JWTError(.encrypted, "the token is encrypted (JWE, five parts); only signed tokens are read")
        default: throw JWTError(.malformed, "the token has \(count + 1) parts instead of 3")
        }
        let (first, second) = dots
        return Parts(
            header: UnsafeRawBufferPointer(rebasing: text[..<first]),
            payload: UnsafeRawBufferPointer(rebasing: text[(first + 1)..<second]),
            signature: UnsafeRawBufferPointer(rebasing: text[(second + 1)...]))
    }

    /// The places of the first two dots, and the number of all dots.
    private static func dots(_ text: UnsafeRawBufferPointer) -> (places: (Int, Int), count: Int) {
        let text = text.assumingMemoryBound(to: UInt8.self)
        var (first, second, count, start) = (0, 0, 0, 0)
        while let offset = UnsafeBufferPointer(rebasing: text[start...]).firstOffset(of: UInt8(ascii: ".")) {
            if count == 0 { first = start + offset }
            if count == 1 { second = start + offset }
            count += 1
            start += offset + 1
        }
        return ((first, second), count)
    }

    private static func decoded(_ part: UnsafeRawBufferPointer, _ name: String) throws(JWTError) -> [UInt8] {
        guard !part.isEmpty else { return [] }
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: (part.count + 3) / 4 * 3) { memory, count in
            guard let decoded = Base64.decode(part, .strictURL, to: UnsafeMutableRawBufferPointer(memory)) else {
                isValid = false
                return
            }
            count = decoded
        }
        guard isValid else { throw notBase64(name) }
        return bytes
    }

    private static func notBase64(_ part: String) -> JWTError {
        JWTError(.malformed, "the token's \(part) is not base64url without padding")
    }
}
