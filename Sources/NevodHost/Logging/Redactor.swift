internal import NevodSupport

/// Redacts credentials in the log of one exchange: values that a token or scheme wrote, values under secret names, and all
/// other occurrences of these values, as in a response that repeats one.
struct Redactor {
    static let mark = Array("[redacted]".utf8)

    let names: RedactedNames
    /// Values to redact, in each encoding in which they may occur.
    private var secrets = SecretFinder(limit: mostSecretBytes)
    /// Shorter values are not searched for: they would match unrelated text.
    private static let shortest = 4
    /// Limits all values together, in each of their encodings. Beyond it no text is shown, since it could contain any of them.
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
        line.provenance.writesCredentials && !isPublic(line) || SecretNames.requestFields.contains(line.name.lowercased())
            || names.contains(line.name.utf8)
    }

    /// Whether a line that a scheme wrote says which page a request comes from, and so is no credential. The query of a page's
    /// address may hold one.
    private func isPublic(_ line: HTTPHeaders.Element) -> Bool {
        ["origin", "referer"].contains(line.name.lowercased()) && ["http://", "https://"].contains(where: line.value.hasPrefix)
            && !line.value.utf8.contains(UInt8(ascii: "?"))
    }

    // MARK: Learning

    /// Learns the secrets in header lines. Call it before the first line is shown: each group of secrets costs a pass over all.
    mutating func learn(_ headers: HTTPHeaders) {
        for line in headers where isSecret(line) { add(header: line) }
        secrets.link()
    }

    mutating func learn(_ value: some Sequence<UInt8>) {
        add(value)
        secrets.link()
    }

    /// Learns values that are one group.
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
        if ["cookie", "set-cookie"].contains(line.name.lowercased()) {
            for cookie in value.split(separator: UInt8(ascii: ";")) {
                let value = cookie.drop { $0 != UInt8(ascii: "=") }.dropFirst()
                add(value.isEmpty ? cookie : value)
                if line.name.lowercased() == "set-cookie" { break }
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
            text[index + 1] = HTTPSyntax.lowercased(text[index + 1])
            text[index + 2] = HTTPSyntax.lowercased(text[index + 2])
        }
        return text
    }

    // MARK: Hiding

    /// The request's URL, redacted. Shown even if the server's response has too many secrets.
    func url(of request: HTTPRequest) -> String {
        String(decoding: redacted(Array("\(request.origin)\(request.redactedTarget)".utf8)), as: UTF8.self)
    }

    /// A header's value, redacted. The name and attributes of a Set-Cookie line are kept. A secret value is learnt, unless
    /// ``learn(_:)`` has seen its line.
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
