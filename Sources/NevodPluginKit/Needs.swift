public import NevodPluginABI

/// The data that a scheme asks the host for. The host computes nothing else.
public struct Needs: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// ``RequestView/body``.
    public static let body = Needs(rawValue: 1 << 0)
    /// ``RequestView/forEachHeader(_:)``.
    public static let headers = Needs(rawValue: 1 << 1)
    /// ``RequestView/random``.
    public static let random = Needs(rawValue: 1 << 2)
    /// ``RequestView/useCount``.
    public static let useCount = Needs(rawValue: 1 << 3)
    /// ``AuthScheme/respond(to:_:_:)`` for challenges: 401 and 403, or 407 if the credential is for a proxy, and the scheme's
    /// ``AuthScheme/challengeStatuses`` and ``AuthScheme/challengeTypes``.
    public static let challenges = Needs(rawValue: 1 << 4)
    /// ``AuthScheme/respond(to:_:_:)`` for every other response.
    public static let otherResponses = Needs(rawValue: 1 << 5)
    /// The earlier name of ``challenges``.
    @available(*, deprecated, renamed: "challenges")
    public static let responses = Needs.challenges
    /// The earlier name of ``otherResponses``.
    @available(*, deprecated, renamed: "otherResponses")
    public static let successes = Needs.otherResponses
    /// ``RequestView/state``.
    public static let state = Needs(rawValue: 1 << 6)
    /// ``Edits/replaceBody(_:)`` and ``Edits/wrapBody(length:with:)``.
    public static let bodyReplacement = Needs(rawValue: 1 << 20)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha256 = Needs(rawValue: 1 << 8)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha384 = Needs(rawValue: 1 << 9)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha512 = Needs(rawValue: 1 << 10)
    /// ``ResponseView/body`` of a challenge.
    public static let challengeBody = Needs(rawValue: 1 << 16)
    /// ``ResponseView/bodyDigest(_:)`` of that algorithm. ``AuthScheme/respond(to:_:_:)`` then runs when the body is complete, and
    /// the host asks the server for no content coding that it would undo.
    public static let responseSHA256 = Needs(rawValue: 1 << 17)
    /// ``ResponseView/bodyDigest(_:)`` of that algorithm, as ``responseSHA256``.
    public static let responseSHA384 = Needs(rawValue: 1 << 18)
    /// ``ResponseView/bodyDigest(_:)`` of that algorithm, as ``responseSHA256``.
    public static let responseSHA512 = Needs(rawValue: 1 << 19)
}

extension Needs {
    /// The needs as the contract's flags.
    var flags: UInt32 {
        var flags: UInt32 = 0
        if contains(.body) { flags |= UInt32(NEVOD_NEED_BODY) }
        if contains(.headers) { flags |= UInt32(NEVOD_NEED_HEADERS) }
        if contains(.useCount) { flags |= UInt32(NEVOD_NEED_USE_COUNT) }
        if contains(.random) { flags |= UInt32(NEVOD_NEED_RANDOM) }
        if contains(.challenges) { flags |= UInt32(NEVOD_NEED_CHALLENGES) }
        if contains(.otherResponses) { flags |= UInt32(NEVOD_NEED_OTHER_RESPONSES) }
        if contains(.challengeBody) { flags |= UInt32(NEVOD_NEED_CHALLENGE_BODY) }
        if contains(.state) { flags |= UInt32(NEVOD_NEED_STATE) }
        if contains(.bodyReplacement) { flags |= UInt32(NEVOD_NEED_REPLACE_BODY) }
        return flags
    }
}

/// A digest algorithm by its name in the registry of RFC 9530. (SHA-384 isn't registered; its name follows the same pattern.)
public enum DigestAlgorithm: CaseIterable, Sendable {
    /// FIPS 180-4: 32, 48 and 64 bytes.
    case sha256, sha384, sha512

    @usableFromInline var name: StaticString {
        switch self {
        case .sha256: "sha-256"
        case .sha384: "sha-384"
        case .sha512: "sha-512"
        }
    }

    var need: Needs {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }

    /// The need for the digest of a response's body.
    var responseNeed: Needs {
        switch self {
        case .sha256: .responseSHA256
        case .sha384: .responseSHA384
        case .sha512: .responseSHA512
        }
    }
}

extension UnsafePointer<nevod_pair> {
    /// Returns the value of the pair with the algorithm's name among `count` pairs.
    @inlinable
    func digest(_ algorithm: DigestAlgorithm, among count: UInt32) -> nevod_bytes? {
        let name = algorithm.name
        search: for index in 0..<Int(count) {
            let (start, size) = (self[index].name.data, name.utf8CodeUnitCount)
            guard let start, Int(self[index].name.count) == size else { continue }
            for offset in 0..<size where start[offset] != name.utf8Start[offset] { continue search }
            return self[index].value
        }
        return nil
    }
}
