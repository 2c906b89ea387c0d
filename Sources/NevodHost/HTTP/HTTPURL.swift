internal import NevodSupport

/// An `http` or `https` URL, parsed without normalization: dots, double slashes, percent-encodings and empty query items are
/// sent unchanged, because the signature covers the exact bytes sent.
package struct HTTPURL {
    let origin: Origin
    /// The request-target in origin-form (RFC 9112 §3.2.1).
    let target: String

    // Parsed byte by byte: a combining mark after a slash must not hide the slash.
    package init(_ text: String) throws(InvalidRequestError) {
        func invalid(_ problem: String) -> InvalidRequestError { InvalidRequestError(.url(Self.redacted(text)), problem) }
        guard !text.utf8.contains(where: \.isControl) else {
            throw invalid("it contains a control character; percent-encode it")
        }
        guard let mark = text.range(ofASCII: "://") else {
            throw invalid("it has no scheme; start it with https:// or http://")
        }
        guard let scheme = Origin.Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
            throw invalid("its scheme is not http or https")
        }
        let rest = text.utf8[mark.upperBound...]
        let authority = rest.prefix { !Self.endsAuthority($0) }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw invalid("it contains credentials, which other processes could read; use a scheme's settings instead")
        }
        let parts = Self.hostAndPort(authority)
        guard !parts.host.isEmpty else { throw invalid("it has no host") }
        guard let port = parts.port.isEmpty ? scheme.defaultPort : Self.port(parts.port) else {
            throw invalid("its port is not a number from 1 to 65535")
        }
        guard let host = URLHost.canonical(parts.host) else {
            throw invalid("its host is neither a name nor an IPv6 address in brackets")
        }
        origin = Origin(scheme: scheme, host: host, port: port)

        let path = rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        target = Self.encoded((path.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + path)
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Divides the authority at its first colon outside of brackets.
    private static func hostAndPort(_ authority: Substring.UTF8View) -> (host: Substring.UTF8View, port: Substring.UTF8View) {
        let address = authority.first == UInt8(ascii: "[") ? authority.prefix { $0 != UInt8(ascii: "]") } : authority.prefix(0)
        let host = authority[..<(authority[address.endIndex...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)]
        return (host, authority[host.endIndex...].dropFirst())
    }

    private static func port(_ digits: Substring.UTF8View) -> UInt16? {
        guard let port = UInt16(digits: digits), port > 0 else { return nil }
        return port
    }

    /// Percent-encodes only what RFC 3986 forbids in a path or query; `%`, `[` and `]` stay.
    private static func encoded(_ target: [UInt8]) -> String {
        guard !target.allSatisfy(isTargetByte) else { return String(decoding: target, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(target.count * 2)
        for byte in target {
            if isTargetByte(byte) { bytes.append(byte) } else { PercentEncoding.append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte.isVisible
        }
    }

    /// Returns a URL that is safe to show in an error: text before an @, wherever it is, may be a password.
    private static func redacted(_ text: String) -> String {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.range(ofASCII: "://").map { text[..<$0.upperBound] } ?? ""
        return scheme + "[redacted]" + text[at...]
    }
}

extension String {
    /// Returns the first range of an ASCII text. (This module doesn't use Foundation, which has a similar method.)
    func range(ofASCII needle: StaticString) -> Range<Index>? {
        let wanted = UnsafeBufferPointer(start: needle.utf8Start, count: needle.utf8CodeUnitCount)
        var start = startIndex
        while start < endIndex {
            if utf8[start...].starts(with: wanted) { return start..<utf8.index(start, offsetBy: wanted.count) }
            start = utf8.index(after: start)
        }
        return nil
    }
}

/// Makes a URL safe to show in an error, even if it can't be parsed: most mistakes in a URL are in or near its password.
package enum ShownURL {
    /// Redacts text before an @, wherever it is. A port that isn't a number is redacted too: it may be a password without the @
    /// and the host that should follow.
    package static func text(_ url: String) -> String {
        let start = url.range(ofASCII: "://")?.upperBound ?? url.startIndex
        if let at = url.utf8.lastIndex(of: UInt8(ascii: "@")), at >= start { return url[..<start] + "[redacted]" + url[at...] }
        let authority = url.utf8[start...].prefix { !"/?#\"' ".utf8.contains($0) }
        // An IPv6 address has colons before its closing bracket, which may be missing.
        guard authority.first != UInt8(ascii: "[") || authority.contains(UInt8(ascii: "]")) else { return url }
        let host = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: UInt8(ascii: ":")) else { return url }
        // Punctuation after the number belongs to the sentence around the URL.
        let rest = authority[colon...].dropFirst().drop(while: \.isDigit)
        return rest.allSatisfy { ",.:;)".utf8.contains($0) } ? url : url[...colon] + "[redacted]"
    }
}
