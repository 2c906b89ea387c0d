import NevodHost
import NevodSupport

/// Builds the request that the flags describe, as curl would.
struct RequestBuilder {
    let arguments: Arguments

    func request() throws -> HTTPRequest { try build().request }

    /// Returns the request, and the names of the `-H` lines in lower case, also of those that leave a line out.
    func build() throws -> (request: HTTPRequest, typedNames: Set<String>) {
        guard let typed = arguments.operands.first else { throw UsageError("no URL given; see nevod-host --help") }
        let content = try RequestContent(arguments: arguments)
        guard !arguments.has(.headOnly) || content.method == .get else {
            throw UsageError("-I sends no content; leave out -d, --json, -F or -T, or write -i in place of -I")
        }
        let url = Self.url(typed, uploading: content.uploadName)
        var request = try HTTPRequest(method(of: content), url, body: content.body)
        if let proto = arguments.value(.proto) { try AllowedProtocols(proto).check(request) }
        try content.query.map { try request.appendQuery($0) }
        try ItemContent.query(arguments.items).map { try request.appendQuery($0) }
        let agent = arguments.value(.userAgent) ?? Self.defaultAgent
        if !agent.isEmpty { try request.setHeader("User-Agent", agent) }
        try request.setHeader("Accept", content.accept)
        try Resumption(arguments).range.map { try request.setHeader("Range", $0) }
        try content.type.map { try request.setHeader("Content-Type", $0) }
        if let referer = referer { try request.setHeader("Referer", referer) }
        if let cookies = CookieOptions.text(of: arguments) { try request.setHeader("Cookie", cookies) }
        let typedNames = try addHeaders(to: &request, content)
        return (request, typedNames)
    }

    private static let defaultAgent = "nevod-host/\(Version.text)"

    /// The lines of the command's requests that a login shares with them; also those of a profile whose flags the command doesn't take.
    /// Those in files are not among them: such a file holds credentials.
    func clientLines() throws -> ClientLines {
        let ofProfile = arguments.profile?.otherFlags ?? []
        let agent = arguments.value(.userAgent) ?? ofProfile.last { $0.name == .userAgent }?.value ?? Self.defaultAgent
        var lines = [(name: "user-agent", value: agent)]
        var seen: Set<String> = []
        for text in ofProfile.filter({ $0.name == .header }).map(\.value) + arguments.values(.header) where !text.hasPrefix("@") {
            let line = Self.parts(of: text)
            let name = line.name.lowercased()
            if line.isRemoval || seen.insert(name).inserted { lines.removeAll { $0.name == name } }
            if !line.isRemoval { lines.append((name, line.value)) }
        }
        var client = ClientLines()
        for line in lines where !line.value.isEmpty { client.add(line.name, line.value) }
        return client
    }

    /// Divides a line by bytes: a combining mark at the beginning of a value is part of the value.
    private static func parts(of line: String) -> (name: String, value: String, hasMark: Bool, isRemoval: Bool) {
        let name = line.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        let rest = line.utf8[name.endIndex...]
        let value = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let isEmpty = rest.first == UInt8(ascii: ";")
        return (
            String(decoding: name, as: UTF8.self), isEmpty ? "" : String(decoding: value, as: UTF8.self), !rest.isEmpty,
            rest.first == UInt8(ascii: ":") && value.isEmpty
        )
    }

    /// The URL of `-e`, without `;auto`.
    private var referer: String? {
        guard let text = arguments.value(.referer) else { return nil }
        let url = text.hasSuffix(";auto") ? String(text.dropLast(5)) : text
        return url.isEmpty ? nil : url
    }

    /// Appends the name of the file that is sent to a URL whose path ends with a slash, as curl does.
    private static func url(_ url: String, uploading name: String?) -> String {
        guard let name else { return url }
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.utf8.endIndex
        let path = url.utf8[..<end]
        // Behind the colon and the two slashes of the scheme.
        let hasPath = path.drop { $0 != UInt8(ascii: ":") }.dropFirst(3).contains(UInt8(ascii: "/"))
        guard !hasPath || path.last == UInt8(ascii: "/") else { return url }
        let encoded = String(decoding: PercentEncoding.queryItem(name.utf8), as: UTF8.self)
        return "\(Substring(path))\(hasPath ? "" : "/")\(encoded)\(url[end...])"
    }

    private func method(of content: RequestContent) throws -> HTTPMethod {
        try arguments.value(.method).map(HTTPMethod.init(validating:)) ?? (arguments.has(.headOnly) ? .head : content.method)
    }

    private func addHeaders(to request: inout HTTPRequest, _ content: RequestContent) throws -> Set<String> {
        var names: Set<String> = []
        var seen: Set<String> = []
        for line in try headerLines() {
            let parts = Self.parts(of: line.text)
            let name = parts.name
            var value = parts.value
            guard parts.hasMark, !line.isSecret || Self.isName(name.utf8) else {
                throw UsageError("\(line.place) is not a header line; write \"Name: value\"")
            }
            if line.isSecret, Self.mayBeSecret(name) { Redaction.shared.learn(secret: value.utf8) }
            names.insert(name.lowercased())
            // Without the boundary, no server could read the parts.
            if let boundary = content.type?.formBoundary, name.lowercased() == "content-type",
                value.lowercased().hasPrefix("multipart/"), !value.lowercased().contains("boundary=")
            {
                value += "; boundary=\(boundary)"
            }
            if parts.isRemoval {
                request.removeHeader(name)
            } else {
                // The first line of a name replaces the program's own default.
                let isFirst = seen.insert(name.lowercased()).inserted
                try Self.write(name, value, line, adding: !isFirst, to: &request)
            }
        }
        return names
    }

    /// Writes a line. One of a profile is for the profile's origins, and one of a file is a secret: no redirect takes them elsewhere.
    private static func write(
        _ name: String, _ value: String, _ line: HeaderLine, adding: Bool, to request: inout HTTPRequest
    ) throws {
        if line.isBound || line.isSecret, mayBeSecret(name) {
            try request.writeCredential(name, value, adding: adding)
        } else if adding {
            try request.addHeader(name, value)
        } else {
            try request.setHeader(name, value)
        }
    }

    private struct HeaderLine {
        let text: String
        /// Whether a profile holds the line, and not the command line.
        var isBound = false
        /// Names the line without its text, which may be a credential.
        let place: String
        /// Whether it comes from a file, where people put what a command line would show.
        let isSecret: Bool
    }

    private func headerLines() throws -> [HeaderLine] {
        // A profile's flags stand in front of those that were typed.
        let ofProfile = arguments.values(.header).count - arguments.typed.count { $0.name == .header }
        return try arguments.values(.header).enumerated().flatMap { index, value in
            guard value.hasPrefix("@") else {
                let isOfFile = FileSecrets.isMarked(headerLine: value)
                return [HeaderLine(text: value, isBound: index < ofProfile, place: "the text of a -H", isSecret: isOfFile)]
            }
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
    private static func isName(_ bytes: String.UTF8View) -> Bool {
        (1...256).contains(bytes.count)
            && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    }

    /// Whether a value of `-H` may hold a credential: a file may, and any line but those that describe content.
    static func mayHoldSecret(_ line: String) -> Bool {
        line.hasPrefix("@") || mayBeSecret(String(decoding: line.utf8.prefix { !":;".utf8.contains($0) }, as: UTF8.self))
    }

    /// Whether a field may carry a credential. Of those that describe content and its negotiation (RFC 9110 §8, §12), a value that is
    /// hidden everywhere would hide much else.
    private static func mayBeSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return !name.hasPrefix("accept") && !name.hasPrefix("content-") && !name.hasPrefix("if-")
            && !["user-agent", "cache-control", "pragma", "host", "range", "date", "origin", "referer", "te"].contains(name)
    }
}

extension String {
    /// The text behind `boundary=` in the type of a form.
    fileprivate var formBoundary: Substring? {
        guard hasPrefix("multipart/"), let equals = utf8.lastIndex(of: UInt8(ascii: "=")) else { return nil }
        return Substring(utf8[equals...].dropFirst())
    }
}
