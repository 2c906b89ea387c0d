import NevodHost
import NevodSupport

/// Builds the request that the flags describe, as curl would.
struct RequestBuilder {
    let arguments: Arguments

    func request() throws -> HTTPRequest {
        guard let url = arguments.operands.first else { throw UsageError("no URL given; see nevod-host --help") }
        guard arguments.operands.count == 1 else {
            throw UsageError("only one URL is allowed, but \(arguments.operands.count) were given")
        }
        let content = try RequestContent(arguments: arguments)
        var request = try HTTPRequest(method(of: content), url, body: content.body)
        try content.query.map { try request.appendQuery($0) }
        try request.setHeader("User-Agent", "nevod-host/\(Version.text)")
        try request.setHeader("Accept", content.accept)
        try content.type.map { try request.setHeader("Content-Type", $0) }
        try addHeaders(to: &request)
        return request
    }

    private func method(of content: RequestContent) throws -> HTTPMethod {
        try arguments.value(.method).map(HTTPMethod.init(validating:)) ?? content.method
    }

    /// Splits lines by bytes: a combining mark at the beginning of a value is part of the value.
    private func addHeaders(to request: inout HTTPRequest) throws {
        var seen: Set<String> = []
        for line in try headerLines() {
            let nameBytes = line.text.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            let rest = line.text.utf8[nameBytes.endIndex...]
            let name = String(decoding: nameBytes, as: UTF8.self)
            let value = String(
                decoding: rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }, as: UTF8.self)
            guard !rest.isEmpty, !line.isSecret || Self.isName(nameBytes) else {
                throw UsageError("\(line.place) is not a header line; write \"Name: value\"")
            }
            if line.isSecret, Self.mayBeSecret(name) { Redaction.shared.learn(secret: value.utf8) }
            if rest.first == UInt8(ascii: ":"), value.isEmpty {
                request.removeHeader(name)
            } else if seen.insert(name.lowercased()).inserted {
                // The first line of a name replaces the program's own default.
                try request.setHeader(name, rest.first == UInt8(ascii: ";") ? "" : value)
            } else {
                try request.addHeader(name, rest.first == UInt8(ascii: ";") ? "" : value)
            }
        }
    }

    private struct HeaderLine {
        let text: String
        /// Names the line without its text, which may be a credential.
        let place: String
        /// Whether it comes from a file, where people put what a command line would show.
        let isSecret: Bool
    }

    private func headerLines() throws -> [HeaderLine] {
        try arguments.values(.header).flatMap { value in
            guard value.hasPrefix("@") else { return [HeaderLine(text: value, place: "the text of a -H", isSecret: false)] }
            let file = String(value.dropFirst())
            return try readFile(file, limit: InputLimit.headers)
                .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
                .map { (number: $0 + 1, line: $1.last == UInt8(ascii: "\r") ? $1.dropLast() : $1) }
                .filter { !$0.line.isEmpty }
                .map { number, line in
                    let place = "-H @\(file): line \(number)"
                    return HeaderLine(text: String(decoding: line, as: UTF8.self), place: place, isSecret: true)
                }
        }
    }

    /// Whether a text is short enough for a name, and has only characters of a name (RFC 9110 §5.6.2).
    private static func isName(_ bytes: Substring.UTF8View) -> Bool {
        (1...256).contains(bytes.count)
            && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    }

    /// Whether a field may carry a credential. Of those that describe content and its negotiation (RFC 9110 §8, §12), a value that is
    /// hidden everywhere would hide much else.
    private static func mayBeSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return !name.hasPrefix("accept") && !name.hasPrefix("content-") && !name.hasPrefix("if-")
            && !["user-agent", "cache-control", "pragma", "host", "range", "date", "origin", "referer", "te"].contains(name)
    }
}
