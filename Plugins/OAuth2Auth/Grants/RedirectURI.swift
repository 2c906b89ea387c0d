internal import NevodPluginKit
internal import NevodSupport

/// The address that the server sends the browser to, with its response (RFC 6749 §3.1.2).
struct RedirectURI: Sendable {
    /// An address at which the host can wait for the browser (RFC 8252 §7.3).
    struct Loopback: Sendable {
        let host: String
        /// 0 for any free port, which servers must accept.
        let port: UInt16
        /// Begins with a slash.
        let path: String
    }

    private static let longest = 2048
    private static let longestPath = 256

    /// The address as registered at the server.
    let text: String
    /// Nil if only the person can see where the browser ended.
    let loopback: Loopback?

    /// - Parameter setting: nil for the default, a path at loopback.
    init(_ setting: String?) throws(SchemeError) {
        text = setting ?? "http://127.0.0.1/callback"
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard text.utf8.count <= Self.longest, scheme.endIndex < text.endIndex, let first = scheme.first,
            first.isLetter,
            text.utf8.allSatisfy({ $0.isVisible && $0 != UInt8(ascii: "#") })
        else { throw .badSetting("redirect-uri", "must be an absolute address without a fragment, such as \(Self.example)") }
        loopback = try Self.loopback(text)
    }

    private static let example = "http://127.0.0.1:8080/callback"

    /// The address to send to the server, after the host has opened `url` at ``loopback``.
    func listening(at url: String) -> String {
        guard let loopback, loopback.port == 0 else { return text }
        // The registered path may be empty; the host's is then a slash.
        let origin = url.utf8.dropLast(loopback.path.utf8.count)
        let hasPath = text.utf8.last == UInt8(ascii: "/") || loopback.path.utf8.count > 1
        return String(Substring(origin)) + (hasPath ? loopback.path : "")
    }

    private static func loopback(_ text: String) throws(SchemeError) -> Loopback? {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: Array("http://".utf8)) else { return nil }
        let rest = bytes.dropFirst("http://".utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        for host in ["127.0.0.1", "[::1]", "localhost"] where authority.starts(with: Array(host.utf8)) {
            let colon = authority.dropFirst(host.utf8.count)
            // Only a port may follow: localhost.example.com, for example, is another host.
            guard colon.isEmpty || colon.first == UInt8(ascii: ":") else { continue }
            let path = rest[authority.endIndex...]
            guard !path.contains(UInt8(ascii: "?")), path.count <= longestPath else {
                throw .badSetting(
                    "redirect-uri", "must have a path of at most \(longestPath) bytes and no query, such as \(example)")
            }
            return Loopback(
                host: host, port: try colon.isEmpty ? 0 : port(colon.dropFirst()),
                path: path.isEmpty ? "/" : String(decoding: Array(path), as: UTF8.self))
        }
        return nil
    }

    private static func port(_ digits: ArraySlice<UInt8>) throws(SchemeError) -> UInt16 {
        guard let port = UInt16(digits: digits), port > 0 else {
            throw .badSetting("redirect-uri", "must have a port from 1 to 65535, or none for any free port")
        }
        return port
    }
}
