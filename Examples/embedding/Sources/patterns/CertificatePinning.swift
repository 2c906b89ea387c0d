import NevodSessions

/// The transport of an app whose servers have keys that it knows.
func pinnedSession(current: String, backup: String) throws -> CurlSession {
    let pins = try PinnedKeys(["api.example.com": [current, backup]])
    return CurlSession(CurlSession.Configuration(pins: pins))
}
