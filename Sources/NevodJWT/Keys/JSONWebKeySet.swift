internal import NevodSupport

/// An issuer's keys (RFC 7517 §5), as it publishes them at its `jwks_uri`.
public struct JSONWebKeySet: Sendable {
    /// The usable keys, in their order.
    public let keys: [JSONWebKey]
    /// The number of skipped keys: of unknown kinds, for other purposes, too short, or malformed.
    public let skipped: Int

    private static let sizeLimit = 1 << 20
    private static let countLimit = 256

    /// Collects keys that were read one by one.
    public init(_ keys: [JSONWebKey]) {
        self.keys = keys
        skipped = 0
    }

    /// Reads a set. A key that can't be used is skipped, as RFC 7517 §5 asks, so that an issuer can add keys of new kinds.
    ///
    /// - Parameter json: an object with the member `keys`, in UTF-8; at most 1 MiB and 256 keys.
    /// - Throws: ``JWTError/Code-swift.enum/malformed`` or ``JWTError/Code-swift.enum/tooLarge``.
    public init(json: [UInt8]) throws(JWTError) {
        guard json.count <= Self.sizeLimit else { throw JWTError(.tooLarge, "the key set has more than \(Self.sizeLimit) bytes") }
        let elements: [Range<Int>]?
        do { elements = try Self.elements(json.span) } catch {
            throw JWTError(.malformed, "the key set is not a JSON object: \(error)")
        }
        guard let elements else { throw JWTError(.malformed, "the key set has no array of keys (RFC 7517 §5)") }
        guard elements.count <= Self.countLimit else {
            throw JWTError(.tooLarge, "the key set has more than \(Self.countLimit) keys")
        }
        keys = elements.compactMap { try? JSONWebKey(json: json.span.extracting($0)) }
        skipped = elements.count - keys.count
    }

    /// The places of the keys; nil if there is no array of keys.
    private static func elements(_ json: Span<UInt8>) throws(JSONError) -> [Range<Int>]? {
        let index = try JSONIndex(json)
        guard let member = index.member("keys", in: json), member.kind == .array else { return nil }
        let start = member.value.lowerBound
        var scanner = JSONScanner(json.extracting(member.value), hasEscapes: true)
        return try scanner.elements(depth: 32).map { $0.lowerBound + start..<$0.upperBound + start }
    }
}

#if !hasFeature(Embedded)
    extension JSONWebKeySet: JWTKeySource {
        /// The keys that may have signed a token: each supports the token's algorithm, and has the token's key identifier, unless
        /// the key or the token has none.
        public func keys(for header: JWTHeader) -> [JSONWebKey] { keys.filter { $0.fits(header) } }
    }
#endif

extension JSONWebKey {
    func fits(_ header: JWTHeader) -> Bool {
        guard let algorithm = header.knownAlgorithm, algorithms.contains(algorithm) else { return false }
        guard let keyID, let other = header.keyID else { return true }
        return keyID.utf8.elementsEqual(other.utf8)
    }
}

// Left out of Embedded Swift, which has no type for an arbitrary error. There, a program fetches the keys itself.
#if !hasFeature(Embedded)
    /// A source of keys that may have signed a token.
    ///
    /// ``JSONWebKeySet`` is one. Others fetch an issuer's keys:
    /// ```swift
    /// struct TwoIssuers: JWTKeySource {
    ///     let old: JSONWebKeySet
    ///     let new: JSONWebKeySet
    ///     func keys(for header: JWTHeader) -> [JSONWebKey] { new.keys(for: header) + old.keys(for: header) }
    /// }
    /// ```
    public protocol JWTKeySource: Sendable {
        /// Returns the keys that fit a token's header, at best only a few: at most 16 are tried.
        ///
        /// - Parameter header: from the token, before anything is verified. Its algorithm is one that the verifier accepts.
        /// - Throws: if the keys aren't available now, for example because the issuer is not reachable.
        func keys(for header: JWTHeader) async throws -> [JSONWebKey]
    }
#endif
