import NevodSessions

/// The transport of an app that knows its servers' keys.
func pinnedSession(current: String, backup: String) throws -> CurlSession {
    let pins = try PinnedKeys(["api.example.com": [current, backup]])
    return CurlSession(CurlSession.Configuration(pins: pins))
}
