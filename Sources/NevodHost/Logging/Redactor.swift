internal import NevodSupport

/// Redacts credentials in the log of one exchange: values that a token or scheme wrote, values under secret names, and all
/// other occurrences of these values, as in a response that repeats one.
struct Redactor {
    static let mark = Array("[redacted]".utf8)

    let names: RedactedNames
    /// Values to redact, in each encoding in which they may occur. The longest come first, since one may contain another.
    private var secrets: [[UInt8]] = []
    /// Shorter values are not searched for: they would match unrelated text.
    private static let shortest = 4

    init(names: RedactedNames, request: HTTPRequest) {
        self.names = names
        for line in request.headers where isSecret(line) { learn(header: line) }
        for (name, value, provenance) in request.queryItems where provenance.writesCredentials || names.contains(name) {
            learn(value)
            learn(PercentEncoding.decoded(value))
        }
    }

    var longestSecret: Int { secrets.first?.count ?? 0 }

    private func isSecret(_ line: HTTPHeaders.Element) -> Bool {
        line.provenance.writesCredentials || SecretNames.requestFields.contains(line.name.lowercased())
            || names.contains(line.name.utf8)
    }

    // MARK: Learning

    mutating func learn(_ value: some Sequence<UInt8>) {
        let value = Array(value)
        guard value.count >= Self.shortest, value != Self.mark else { return }
        let encoded = PercentEncoding.queryItem(value)
        let slashed = value.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
        for spelling in [value, encoded, Self.lowercasedEscapes(encoded), slashed] where !secrets.contains(spelling) {
            secrets.append(spelling)
        }
        secrets.sort { $0.count > $1.count }
    }

    private mutating func learn(header line: HTTPHeaders.Element) {
        let value = Array(line.value.utf8)
        learn(value)
        if ["cookie", "set-cookie"].contains(line.name.lowercased()) {
            for cookie in value.split(separator: UInt8(ascii: ";")) {
                let value = cookie.drop { $0 != UInt8(ascii: "=") }.dropFirst()
                learn(value.isEmpty ? cookie : value)
                if line.name.lowercased() == "set-cookie" { break }
            }
            return
        }
        // The credential after the scheme's name (RFC 9110 §11.4).
        guard let space = value.firstIndex(of: UInt8(ascii: " ")) else { return }
        let credential = value[space...].drop { $0 == UInt8(ascii: " ") }
        learn(credential)
        for range in assignments(in: value) { learn(value[range]) }
        // A name and a password (RFC 7617 §2).
        guard String(decoding: value[..<space], as: UTF8.self).lowercased() == "basic",
            let pair = Base64.decoded(Array(credential), .any)
        else { return }
        learn(pair)
        learn(pair.drop { $0 != UInt8(ascii: ":") }.dropFirst())
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

    /// The request's URL, redacted.
    func url(of request: HTTPRequest) -> String {
        text("\(request.origin)\(request.redactedTarget)")
    }

    /// A header's value, redacted. The name and attributes of a Set-Cookie line are kept.
    mutating func value(of line: HTTPHeaders.Element) -> String {
        guard isSecret(line) else { return text(line.value) }
        learn(header: line)
        if line.provenance.writesCredentials { return "[redacted: \(line.provenance)]" }
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
        let text = hidingSecrets(text)
        return text.replacing(assignments(in: text) + Self.tokens(in: text) + Self.userInfo(in: text), with: Self.mark)
    }

    /// Redacts known secrets only, in text that ``text(_:)`` or ``body(_:type:limit:)`` has returned.
    func hidingSecrets(_ text: String) -> String {
        String(decoding: hidingSecrets(Array(text.utf8)), as: UTF8.self)
    }

    func hidingSecrets(_ text: [UInt8]) -> [UInt8] {
        guard !secrets.isEmpty else { return text }
        var found: [Range<Int>] = []
        var index = 0
        while index < text.count {
            if let secret = secrets.first(where: { $0[0] == text[index] && text[index...].starts(with: $0) }) {
                found.append(index..<index + secret.count)
                index += secret.count
            } else {
                index += 1
            }
        }
        return text.replacing(found, with: Self.mark)
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
