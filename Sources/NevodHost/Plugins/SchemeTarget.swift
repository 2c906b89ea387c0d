internal import NevodPluginABI

/// The recipient of a scheme's credential.
public enum SchemeTarget: Sendable, Hashable {
    /// The server that the request is for. The scheme's edits reach no other origin (RFC 6454).
    case origin
    /// The proxy on the way to the origin, if the transport uses one. The scheme writes only `Proxy-Authorization` (RFC 9110
    /// §11.7.2), which no origin ever sees.
    case proxy
}

extension SchemeTarget {
    var kind: Int32 { Int32(self == .proxy ? NEVOD_TARGET_PROXY : NEVOD_TARGET_ORIGIN) }

    /// The status of its challenges (RFC 9110 §15.5.2, §15.5.8).
    var challengeStatus: Int { self == .proxy ? 407 : 401 }

    /// Whether a response with this status comes from the target itself. A proxy is the source of a 407 that didn't come through
    /// a tunnel; it passes on all other responses from the origin.
    func isSource(ofStatus status: Int, for origin: Origin) -> Bool {
        self == .proxy ? status == 407 && origin.scheme == .http : status != 407
    }
}
