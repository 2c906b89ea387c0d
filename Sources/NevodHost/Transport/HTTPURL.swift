/// An `http` or `https` URL, taken apart without being changed: dots, double slashes, percent-encodings and empty query
/// items go out as they came in, because what is signed has to be what is sent.
struct HTTPURL {
    let origin: Origin
    /// The request-target in origin-form (RFC 9112 §3.2.1).
    let target: String

    init(_ text: String) throws(InvalidRequest) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw InvalidRequest(.url(Self.redacted(text)), "it holds a control character; write it percent-encoded")
        }
        guard let colon = text.range(ofASCII: "://") else {
            throw InvalidRequest(.url(Self.redacted(text)), "it has no scheme; begin it with https:// or http://")
        }
        guard let scheme = Origin.Scheme(rawValue: text[..<colon.lowerBound].lowercased()) else {
            throw InvalidRequest(
                .url(Self.redacted(text)), "the scheme \"\(text[..<colon.lowerBound])\" is not one of http, https")
        }
        let afterScheme = text[colon.upperBound...]
        let authorityEnd = afterScheme.firstIndex { "/?#".contains($0) } ?? afterScheme.endIndex
        let authority = afterScheme[..<authorityEnd]
        guard !authority.contains("@") else {
            throw InvalidRequest(
                .url(Self.redacted(text)), "it holds credentials, which other processes could read; use a scheme's settings")
        }
        origin = try Self.origin(scheme, authority, of: text)

        let rest = afterScheme[authorityEnd...]
        let withoutFragment = rest.prefix { $0 != "#" }
        target = Self.encoded((withoutFragment.first == "/" ? "" : "/") + withoutFragment)
    }

    private static func origin(
        _ scheme: Origin.Scheme, _ authority: Substring, of text: String
    ) throws(InvalidRequest) -> Origin {
        let host: Substring
        var portText: Substring = ""
        if authority.first == "[" {
            guard let bracket = authority.firstIndex(of: "]") else {
                throw InvalidRequest(.url(text), "the IPv6 address has no closing bracket")
            }
            host = authority[authority.index(after: authority.startIndex)..<bracket]
            portText = authority[authority.index(after: bracket)...]
            guard !host.isEmpty, host.utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
                portText.isEmpty || portText.first == ":"
            else { throw InvalidRequest(.url(text), "\"\(authority)\" is not an IPv6 address in brackets") }
            portText = portText.dropFirst()
        } else {
            let colon = authority.firstIndex(of: ":") ?? authority.endIndex
            host = authority[..<colon]
            portText = authority[colon...].dropFirst()
        }
        guard !host.isEmpty else { throw InvalidRequest(.url(text), "it names no host") }
        guard let port = portText.isEmpty ? scheme.defaultPort : UInt16(portText), port > 0 else {
            throw InvalidRequest(.url(text), "the port \"\(portText)\" is not a number from 1 to 65535")
        }
        let ascii = host.utf8.allSatisfy { $0 < 0x80 } ? host.lowercased() : IDN.ascii(String(host))
        guard let ascii, ascii.utf8.allSatisfy(isHostByte) else {
            throw InvalidRequest(.url(text), "\"\(host)\" is not a host name")
        }
        return Origin(scheme: scheme, host: ascii, port: port)
    }

    /// Percent-encodes what RFC 3986 doesn't allow in a path or query, and nothing else: `%`, `[` and `]` stay.
    private static func encoded(_ target: String) -> String {
        guard !target.utf8.allSatisfy(isTargetByte) else { return target }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(target.utf8.count * 2)
        for byte in target.utf8 {
            if isTargetByte(byte) { bytes.append(byte) } else { PercentEncoding.append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// A URL as an error may show it: without user information.
    private static func redacted(_ text: String) -> String {
        guard let colon = text.range(ofASCII: "://"),
            let at = text[colon.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return text }
        return text[..<colon.upperBound] + "[redacted]" + text[at...]
    }
}

extension String {
    /// Where an ASCII text first stands. (Foundation has the like; the engine does without Foundation.)
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
