internal import NevodSupport

/// Links in `Link` header lines (RFC 8288 §3).
enum LinkHeader {
    /// Returns the target of the first link with the relation `next`, as the server wrote it.
    static func next(in headers: HTTPHeaders) -> String? {
        for line in headers.values(of: "Link") {
            if let target = next(in: line) { return target }
        }
        return nil
    }

    /// Parses a line as RFC 8288 §B.2 does. Parsing stops at the first invalid link, since the rest can't be trusted.
    private static func next(in line: String) -> String? {
        var rest = Array(line.utf8)[...]
        while true {
            rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard rest.popFirst() == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let target = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[rest.index(after: end)...]
            let parameters = readParameters(&rest)
            // The first rel counts (§3.3). A link with an anchor is about another resource (§3.2).
            let relations = parameters.first { $0.name == "rel" }?.value.lowercased().split(separator: " ") ?? []
            if relations.contains("next"), !parameters.contains(where: { $0.name == "anchor" }) { return target }
        }
    }

    private static func readParameters(_ rest: inout ArraySlice<UInt8>) -> [(name: String, value: String)] {
        var parameters: [(String, String)] = []
        while true {
            rest = rest.drop(while: \.isBlank)
            guard rest.first == UInt8(ascii: ";") else { return parameters }
            rest = rest.dropFirst().drop(while: \.isBlank)
            let name = rest.prefix { !$0.isBlank && !"=;,".utf8.contains($0) }
            rest = rest[name.endIndex...].drop(while: \.isBlank)
            var value: [UInt8] = []
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop(while: \.isBlank)
                value = rest.first == UInt8(ascii: "\"") ? readQuoted(&rest) : readToken(&rest)
            }
            parameters.append((String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)))
        }
    }

    private static func readToken(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let token = rest.prefix { !$0.isBlank && !";,".utf8.contains($0) }
        rest = rest[token.endIndex...]
        return Array(token)
    }

    /// Reads a quoted string (RFC 9110 §5.6.4).
    private static func readQuoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var value: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { value.append(escaped) } else { value.append(byte) }
        }
        return value
    }
}
