internal import NevodSupport

/// Redacts credentials in the log of one exchange: values that a token or scheme wrote, values under secret names, and all
/// other occurrences of these values, as in a response that repeats one.
struct Redactor {
    static let mark = Array("[redacted]".utf8)

    let names: RedactedNames
    /// Values to redact, in each encoding in which they may occur.
    private var secrets = TextFinder(limit: mostSecretBytes)
    /// Shorter values are not searched for: they would match unrelated text.
    static let shortest = 4
    /// Limits the size of all values together, in all their encodings. Beyond the limit, no text is shown, because it could
    /// contain a value that isn't searched for.
    private static let mostSecretBytes = 512 << 10
    private static let tooMany = Array("[redacted: there are too many secrets to look for]".utf8)

    init(names: RedactedNames, request: HTTPRequest) {
        self.names = names
        for (name, value, provenance) in request.queryItems where provenance.writesCredentials || names.contains(name) {
            add(value)
            add(PercentEncoding.decoded(value))
        }
        learn(request.headers)
    }

    var longestSecret: Int { secrets.longest }

    private func isSecret(_ line: HTTPHeaders.Element) -> Bool {
        line.provenance.writesCredentials && !isPublic(line) || CredentialNames.fields.contains(line.name.lowercased())
            || names.contains(line.name.utf8)
    }

    /// Whether a scheme's line only says which page a request comes from, and so isn't a credential. False if the page's URL has
    /// a query, which may contain a credential.
    private func isPublic(_ line: HTTPHeaders.Element) -> Bool {
        ["origin", "referer"].contains(line.name.lowercased()) && ["http://", "https://"].contains(where: line.value.hasPrefix)
            && !line.value.utf8.contains(UInt8(ascii: "?"))
    }

    // MARK: Learning

    /// Learns the secrets in header lines. Call it before the first line is shown, because each group of secrets costs a pass
    /// over all secrets.
    mutating func learn(_ headers: HTTPHeaders) {
        for line in headers where isSecret(line) { add(header: line) }
        secrets.link()
    }

    mutating func learn(_ value: some Sequence<UInt8>) {
        add(value)
        secrets.link()
    }

    /// Learns values as one group.
    mutating func learn(_ ranges: [Range<Int>], of text: [UInt8]) {
        for range in ranges { add(text[range]) }
        secrets.link()
    }

    /// Adds a value, which is found after the next `secrets.link()`.
    mutating func add(_ value: some Sequence<UInt8>) {
        let value = Array(value)
        guard value.count >= Self.shortest, value != Self.mark else { return }
        let encoded = PercentEncoding.queryItem(value)
        let slashed = value.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
        for spelling in [value, encoded, Self.lowercasedEscapes(encoded), slashed] { secrets.add(spelling) }
    }

    /// Prepares the search for what ``add(_:)`` has added.
    mutating func link() {
        secrets.link()
    }

    private mutating func add(header line: HTTPHeaders.Element) {
        let value = Array(line.value.utf8)
        add(value)
        let name = line.name.lowercased()
        let setsCookie = CredentialNames.responseFields.contains(name)
        if setsCookie || name == "cookie" {
            for cookie in value.split(separator: UInt8(ascii: ";")) {
                let value = cookie.drop { $0 != UInt8(ascii: "=") }.dropFirst()
                add(value.isEmpty ? cookie : value)
                if setsCookie { break }
            }
            return
        }
        // The credential after the scheme's name (RFC 9110 §11.4).
        guard let space = value.firstIndex(of: UInt8(ascii: " ")) else { return }
        let credential = value[space...].drop { $0 == UInt8(ascii: " ") }
        add(credential)
        for range in assignments(in: value) { add(value[range]) }
        // A name and a password (RFC 7617 §2).
        guard String(decoding: value[..<space], as: UTF8.self).lowercased() == "basic",
            let pair = Base64.decoded(Array(credential), .any)
        else { return }
        add(pair)
        add(pair.drop { $0 != UInt8(ascii: ":") }.dropFirst())
    }

    private static func lowercasedEscapes(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for index in text.indices where text[index] == UInt8(ascii: "%") && index + 2 < text.count {
            text[index + 1] = text[index + 1].lowercased
            text[index + 2] = text[index + 2].lowercased
        }
        return text
    }

    // MARK: Hiding

    /// The request's URL, redacted. Shown even if the server's response has too many secrets.
    func url(of request: HTTPRequest) -> String {
        String(decoding: redacted(Array("\(request.origin)\(request.redactedTarget)".utf8)), as: UTF8.self)
    }

    /// A header's value, redacted. The name and attributes of a Set-Cookie line are kept. Learns a secret value that ``learn(_:)``
    /// hasn't seen.
    mutating func value(of line: HTTPHeaders.Element) -> String {
        guard isSecret(line) else { return text(line.value) }
        add(header: line)
        secrets.link()
        if line.provenance.writesCredentials, line.provenance != .callerSecret { return "[redacted: \(line.provenance)]" }
        guard line.name.lowercased() == "set-cookie" else { return "[redacted]" }
        let name = line.value.prefix { $0 != "=" }
        // Without an equals sign, the whole line is the value (RFC 6265bis §5.6).
        guard name.endIndex < line.value.endIndex, !name.contains(";") else { return "[redacted]" }
        return "\(name)=[redacted]\(line.value.drop { $0 != ";" })"
    }

    func text(_ text: String) -> String {
        String(decoding: bytes(Array(text.utf8)), as: UTF8.self)
    }

    /// Redacts any text: known secrets, values assigned to secret names in any notation, JWTs, and passwords in URLs.
    func bytes(_ text: [UInt8]) -> [UInt8] {
        secrets.isFull && !text.isEmpty ? Self.tooMany : redacted(text)
    }

    private func redacted(_ text: [UInt8]) -> [UInt8] {
        let text = text.replacing(secrets.ranges(in: text), with: Self.mark)
        return text.replacing(assignments(in: text) + Self.tokens(in: text) + Self.userInfo(in: text), with: Self.mark)
    }

    /// Redacts known secrets only, in text that ``text(_:)`` or ``body(_:type:limit:)`` has returned.
    func hidingSecrets(_ text: String) -> String {
        String(decoding: hidingSecrets(Array(text.utf8)), as: UTF8.self)
    }

    func hidingSecrets(_ text: [UInt8]) -> [UInt8] {
        secrets.isFull && !text.isEmpty ? Self.tooMany : text.replacing(secrets.ranges(in: text), with: Self.mark)
    }
}

extension [UInt8] {
    /// The ranges may overlap, and may be in any order.
    func replacing(_ ranges: [Range<Int>], with replacement: [UInt8]) -> [UInt8] {
        guard !ranges.isEmpty else { return self }
        var result: [UInt8] = []
        var done = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound >= done { result += self[done..<range.lowerBound] + replacement }
            done = Swift.max(done, range.upperBound)
        }
        return result + self[done...]
    }
}

extension HTTPRequest {
    /// The items of the query in order, each with its provenance.
    fileprivate var queryItems: [(name: [UInt8], value: [UInt8], provenance: Provenance)] {
        let bytes = Array(target.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return bytes[(mark + 1)...].split(separator: UInt8(ascii: "&")).map { item in
            let provenance = addedQueryItems.first { $0.range.contains(item.startIndex) }?.provenance ?? .caller
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else {
                // If a token wrote an item without a value, the whole item is secret.
                return (PercentEncoding.decoded(item), provenance.writesCredentials ? Array(item) : [], provenance)
            }
            return (PercentEncoding.decoded(item[..<equals]), Array(item[(equals + 1)...]), provenance)
        }
    }
}

// Secrets that are recognized by their form, in any text: values under secret names, tokens, and passwords in URLs.
extension Redactor {
    /// The ranges of values that are assigned to secret names, in any common notation: `a=b`, `a: b`, `"a":"b"`, `a="b"`,
    /// `<a>b</a>`. Quotes are not part of a range.
    ///
    /// - Parameter depth: the number of percent-encoded texts around this one.
    func assignments(in text: [UInt8], depth: Int = 0) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < text.count {
            guard Self.isNameByte(text[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < text.count, Self.isNameByte(text[index]) { index += 1 }
            let name = PercentEncoding.decoded(text[start..<index])
            if name.contains(UInt8(ascii: "=")) {
                // A percent-encoded URL within a URL. Levels that are too deep are redacted without a search, because each level
                // costs a pass.
                if depth == Self.deepest || !assignments(in: name, depth: depth + 1).isEmpty { found.append(start..<index) }
            } else if names.contains(name), let value = Self.value(in: text, from: index) {
                found.append(value)
                index = value.upperBound
            }
        }
        return found
    }

    private static let deepest = 8

    /// The value after a name that ends at `end`; nil if there is none, or it is redacted already.
    private static func value(in text: [UInt8], from end: Int) -> Range<Int>? {
        func skip(_ bytes: StaticString, _ index: inout Int, atMost count: Int = .max) {
            let allowed = UnsafeBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount)
            let limit = count == .max ? text.count : min(text.count, index + count)
            while index < limit, allowed.contains(text[index]) { index += 1 }
        }
        var index = end
        skip("\\\"'", &index, atMost: 2)
        skip(" \t", &index)
        guard index < text.count, [UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: ">")].contains(text[index]) else {
            return nil
        }
        index += 1
        skip(" \t", &index)
        let quoteStart = index
        skip("\\\"'", &index, atMost: 2)
        let quote = index > quoteStart ? text[index - 1] : nil
        var valueEnd = Self.end(ofValue: text, index, quote)
        if quote == nil, schemes.contains(String(decoding: text[index..<valueEnd], as: UTF8.self).lowercased()) {
            var next = valueEnd
            skip(" ", &next)
            valueEnd = Self.end(ofValue: text, next, nil)
        }
        guard valueEnd > index, !text[index...].starts(with: mark.dropLast()) else { return nil }
        // JSON's literals aren't secret.
        if quote == nil, ["null", "true", "false"].contains(String(decoding: text[index..<valueEnd], as: UTF8.self)) {
            return nil
        }
        return index..<valueEnd
    }

    private static func end(ofValue text: [UInt8], _ start: Int, _ quote: UInt8?) -> Int {
        var end = start
        while end < text.count, !endsValue(text[end], quote) { end += 1 }
        return end
    }

    private static func endsValue(_ byte: UInt8, _ quote: UInt8?) -> Bool {
        if byte == UInt8(ascii: "\\") || byte < 0x20 { return true }
        if let quote { return byte == quote }
        return byte == 0x20 || unquotedEnds.contains(byte)
    }

    private static let unquotedEnds = Array("&;,<>)]}\"'#".utf8)

    /// The names of schemes that may precede the credential in `Authorization: …`.
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "token", "apikey", "dpop"]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: byte.isAlphanumeric || byte >= 0x80
        }
    }

    /// The ranges of JSON Web Tokens (RFC 7519), which are credentials wherever they occur. Their header is JSON in base64, so
    /// all start with the same letters.
    static func tokens(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, isJWTByte(text[index]) { index += 1 }
            let run = text[start..<index]
            if run.count >= 20, run.starts(with: "eyJ".utf8), run.contains(UInt8(ascii: ".")) { found.append(start..<index) }
            if index == start { index += 1 }
        }
        return found
    }

    private static func isJWTByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    /// The ranges of `user:password` in URLs (RFC 3986 §3.2.1).
    static func userInfo(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index + 3 < text.count {
            defer { index += 1 }
            guard text[index...].starts(with: "://".utf8) else { continue }
            let start = index + 3
            let authority = text[start...].prefix { $0 > 0x20 && !Array("/?#\"'<>".utf8).contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), at > start { found.append(start..<at) }
        }
        return found
    }
}

extension HTTPRequest {
    /// The request line and header lines, safe to log. Three kinds of text are replaced: values that a token or plugin wrote,
    /// values under names that mark them as secret (``RedactedNames/default``), and all other occurrences of these values. The
    /// lines contain no line breaks.
    public var redactedHead: [String] {
        var redactor = Redactor(names: .default, request: self)
        return ["\(method) \(redactor.text(redactedTarget))"]
            + headers.map { line in "\(redactor.hidingSecrets(line.name)): \(redactor.value(of: line))" }
    }

    /// The URL, with a mark in place of each value that a token or plugin wrote.
    package var shownURL: String { "\(origin)\(redactedTarget)" }

    /// The target, with a mark in place of each value that a token or plugin wrote.
    var redactedTarget: String {
        var bytes = Array(target.utf8)
        for (range, provenance) in addedQueryItems.reversed() where provenance.writesCredentials {
            // Without "=", the whole item is secret.
            let name = bytes[range].firstIndex(of: UInt8(ascii: "=")).map { bytes[range.lowerBound...$0] } ?? []
            bytes.replaceSubrange(range, with: name + Array("[redacted: \(provenance)]".utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(method) \(Redactor(names: .default, request: self).url(of: self))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["head": redactedHead]) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names only: dumped headers are a common way for credentials to reach a log.
    public var description: String { "[\(map(\.name).joined(separator: ", "))]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["names": map(\.name)]) }
}
