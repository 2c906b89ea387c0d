import NevodHost

/// A section of the config file.
struct Profile: Sendable {
    let name: String
    /// The config file.
    var path = ""
    /// The line of the section's name, from 1.
    var line = 0
    /// Whether other users can read the file.
    var isReadableByOthers = false
    /// The flags in order. They are put before those of the command line, so that the latter win.
    var flags: [ProfileFlag] = []
    /// Those of its flags that the command doesn't take. They say what its other requests are like.
    var otherFlags: [ProfileFlag] = []
    /// The URL to which a relative operand is appended; without a fragment.
    var baseURL: String?
    /// The number of the line of ``baseURL``.
    var baseLine = 0
    /// The origins that its credentials are for: that of ``baseURL`` first, then those of `origins`.
    var origins: [Origin] = []

    /// Returns the flags that the command takes.
    func flags(for command: Command) -> [ProfileFlag] {
        flags.filter { given in
            Flag.flags(of: command).contains { $0.name == given.name }
        }
    }

    /// Returns the long name of the first flag that puts a credential on the command's requests; nil if there is none.
    ///
    /// - Parameter undone: the flags that the command line takes back.
    func credential(for command: Command, without undone: Set<Flag.Name> = []) -> String? {
        flags(for: command).lazy.filter { !undone.contains($0.name) }.compactMap { given in
            Flag.all.first {
                $0.name == given.name && $0.isCredential && Self.mayHoldSecret(given)
            }
        }.first?.long
    }

    private static func mayHoldSecret(_ given: ProfileFlag) -> Bool {
        switch given.name {
        case .header: RequestBuilder.mayHoldSecret(given.value)
        // A part of the query counts if it reads a file: @FILE or NAME@FILE.
        case .urlQuery:
            given.value.utf8.first { "=@".utf8.contains($0) } == UInt8(ascii: "@") && given.value.utf8.first != UInt8(ascii: "+")
        default: true
        }
    }

    /// Returns the URL for an operand: `/orders?all` with the base `https://host/v1?tenant=1` is
    /// `https://host/v1/orders?tenant=1&all`. An absolute operand, and any operand without a base, stays as it is. Base and operand
    /// are joined by exactly one slash; nothing else is changed, `//` and `/../` included. (This is not the resolution of RFC 3986
    /// §5, by which `/orders` would leave `/v1`.)
    func url(for operand: String) -> String {
        guard let baseURL, !Self.isAbsolute(operand) else { return operand }
        let (basePath, baseQuery) = Self.cut(baseURL[...], at: "?")
        let (rest, fragment) = Self.cut(operand[...], at: "#")
        let (path, query) = Self.cut(rest, at: "?")
        var url = String(basePath)
        if !path.isEmpty {
            if url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
            url += "/"
            url += path.utf8.first == UInt8(ascii: "/") ? String(decoding: path.utf8.dropFirst(), as: UTF8.self) : String(path)
        }
        let queries = [baseQuery, query].compactMap { $0 }.filter { !$0.isEmpty }
        // A question mark without a query is sent if it was typed.
        if !queries.isEmpty || baseQuery != nil || query != nil { url += "?" + queries.joined(separator: "&") }
        if let fragment { url += "#" + fragment }
        return url
    }

    /// Whether an operand begins with a scheme (RFC 3986 §3.1) and `://`; any other colon may be part of a path.
    private static func isAbsolute(_ operand: String) -> Bool {
        let scheme = operand.utf8.prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard let first = scheme.first, first >= UInt8(ascii: "A") else { return false }
        return operand.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }

    private static func cut(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }
}
