internal import NevodPluginABI

/// Whom a scheme's credential is for.
public enum SchemeTarget: Sendable, Hashable {
    /// The server that the request goes to. What the scheme writes reaches no other origin (RFC 6454).
    case origin
    /// The proxy on the way to the origin, if the transport goes through one. The scheme writes `Proxy-Authorization` (RFC 9110
    /// §11.7.2) and nothing else, and no origin ever sees it.
    case proxy
}

extension SchemeTarget {
    var kind: Int32 { Int32(self == .proxy ? NEVOD_TARGET_PROXY : NEVOD_TARGET_ORIGIN) }

    /// The status with which it asks for a credential (RFC 9110 §15.5.2, §15.5.8).
    var challengeStatus: Int { self == .proxy ? 407 : 401 }

    /// Whether an answer is its own. What comes out of a tunnel is the origin's, and so is every other answer of a proxy that
    /// passed the request on.
    func answers(with status: Int, to origin: Origin) -> Bool {
        self == .proxy ? status == 407 && origin.scheme == .http : status != 407
    }
}
