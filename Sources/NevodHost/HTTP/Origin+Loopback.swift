extension Origin {
    /// Whether its server is on this machine: 127.0.0.0/8, ::1, or `localhost`, which libcurl resolves to one of them without
    /// asking any server (RFC 6761 §6.3).
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        // Only in the usual form: resolvers disagree on numbers of other forms, such as `127.1` and `0177.0.0.1`.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    /// Whether only the server itself can have written a response: over TLS, or on this machine.
    package var isAuthentic: Bool { scheme == .https || isLoopback }
}
