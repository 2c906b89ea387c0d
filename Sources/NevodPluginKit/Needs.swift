internal import NevodPluginABI

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
    /// ``AuthScheme/respond(to:_:_:)`` for 401 and 407.
    public static let responses = Needs(rawValue: 1 << 4)
    /// ``AuthScheme/respond(to:_:_:)`` for every other status too.
    public static let successes = Needs(rawValue: 1 << 5)
    /// ``RequestView/state``.
    public static let state = Needs(rawValue: 1 << 6)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha256 = Needs(rawValue: 1 << 8)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha384 = Needs(rawValue: 1 << 9)
    /// ``RequestView/bodyDigest(_:)`` of that algorithm.
    public static let sha512 = Needs(rawValue: 1 << 10)
}

extension Needs {
    /// The needs as the contract's flags.
    var flags: UInt32 {
        var flags: UInt32 = 0
        if contains(.body) { flags |= UInt32(NEVOD_NEED_BODY) }
        if contains(.headers) { flags |= UInt32(NEVOD_NEED_HEADERS) }
        if contains(.useCount) { flags |= UInt32(NEVOD_NEED_USE_COUNT) }
        if contains(.random) { flags |= UInt32(NEVOD_NEED_RANDOM) }
        if contains(.responses) { flags |= UInt32(NEVOD_NEED_CHALLENGES) }
        if contains(.successes) { flags |= UInt32(NEVOD_NEED_OTHER_RESPONSES) }
        if contains(.state) { flags |= UInt32(NEVOD_NEED_STATE) }
        return flags
    }
}
