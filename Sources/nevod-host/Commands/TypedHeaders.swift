import NevodHost
import NevodSupport

/// The lines of `-H`: what each does to the request, and whether it may hold a credential, which no redirect takes elsewhere.
///
/// Lines of profiles and files are written here as credentials, so the library leaves them out after a redirect to another
/// origin. It leaves out a typed line if `CredentialNames` has its name.
extension RequestBuilder {
    func addHeaders(to request: inout HTTPRequest, _ content: RequestContent) throws -> Set<String> {
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

    private func headerLines() throws -> [HeaderLine] {
        // A profile's flags come before the typed ones.
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

    private struct HeaderLine {
        let text: String
        /// Whether the line comes from a profile.
        var isBound = false
        /// Names the line without its text, which may be a credential.
        let place: String
        /// Whether the line comes from a file. People put into a file what a command line would reveal.
        let isSecret: Bool
    }

    /// Writes a line. A profile's line is for the profile's origins, and a file's line is a secret, so a redirect takes neither
    /// to another origin.
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

    /// Whether a value of `-H` may hold a credential: any file may, and any line that doesn't describe content.
    static func mayHoldSecret(_ line: String) -> Bool {
        line.hasPrefix("@") || mayBeSecret(String(decoding: line.utf8.prefix { !":;".utf8.contains($0) }, as: UTF8.self))
    }

    /// Whether a field may carry a credential. Fields that describe content and its negotiation (RFC 9110 §8, §12) don't count:
    /// redacting their values everywhere would hide much else.
    private static func mayBeSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return !name.hasPrefix("accept") && !name.hasPrefix("content-") && !name.hasPrefix("if-")
            && !["user-agent", "cache-control", "pragma", "host", "range", "date", "origin", "referer", "te"].contains(name)
    }

    /// Whether a text is short enough for a name, and has only characters of a name (RFC 9110 §5.6.2).
    private static func isName(_ bytes: String.UTF8View) -> Bool {
        (1...256).contains(bytes.count) && bytes.allSatisfy(\.isTokenByte)
    }

    /// Splits a line by bytes: a combining mark at the start of a value is part of the value.
    static func parts(of line: String) -> (name: String, value: String, hasMark: Bool, isRemoval: Bool) {
        let name = line.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        let rest = line.utf8[name.endIndex...]
        let value = rest.dropFirst().drop(while: \.isBlank)
        let isEmpty = rest.first == UInt8(ascii: ";")
        return (
            String(decoding: name, as: UTF8.self), isEmpty ? "" : String(decoding: value, as: UTF8.self), !rest.isEmpty,
            rest.first == UInt8(ascii: ":") && value.isEmpty
        )
    }
}

extension String {
    /// The text after `boundary=` in the media type of a form.
    fileprivate var formBoundary: Substring? {
        guard hasPrefix("multipart/"), let equals = utf8.lastIndex(of: UInt8(ascii: "=")) else { return nil }
        return Substring(utf8[equals...].dropFirst())
    }
}

/// Warns about `-H` lines that the plugin has replaced. Runs after all other interceptors. The plugin's lines win, because it
/// signs what is sent.
struct ReplacedLines: RequestInterceptor {
    let typed: HTTPRequest
    let typedNames: Set<String>
    let console: Console

    var phase: TokenPhase { .signature }

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.attempt == 1 else { return }
        for name in typedNames.sorted() {
            guard let value = typed.headers[name], let sent = exchange.request.headers[name], sent != value else { continue }
            console.warning("the plugin replaced the \(name) line of -H")
        }
    }
}
