internal import NevodSupport

/// Redacts what a program shows of its requests and responses: the credentials of all requests sent so far, and other secrets that
/// it has learnt, wherever they occur. (``Redactor``, in contrast, knows only one request.)
package struct TraceRedactor: Sendable {
    private var redactors: [Redactor] = []
    private var credentials = CredentialSearch()
    private var secrets: [[UInt8]] = []

    /// The number of newest requests that are remembered, in addition to the first.
    private static let mostRequests = 32
    /// Limits the cookies of a response that are remembered: a server decides how many it sets.
    private static let mostCookies = 128

    package init() {
        // Knows no secrets yet, but finds secrets that are recognized by their form.
        if let none = try? HTTPRequest(.get, "http://localhost/") { redactors = [Redactor(names: .default, request: none)] }
    }

    /// Remembers the credentials of a request as it is sent.
    package mutating func learn(_ request: HTTPRequest) {
        credentials.add(request)
        var redactor = Redactor(names: .default, request: request)
        for secret in secrets { redactor.learn(secret) }
        if redactors.count > Self.mostRequests { redactors.remove(at: 2) }
        redactors.append(redactor)
    }

    /// Remembers a secret that no request marks as one.
    package mutating func learn(_ secret: some Sequence<UInt8>) {
        let secret = Array(secret)
        guard secret.count >= Redactor.shortest, !secrets.contains(secret) else { return }
        secrets.append(secret)
        for index in redactors.indices { redactors[index].learn(secret) }
    }

    /// The lines of a request as it is sent. Call ``learn(_:)`` first.
    package mutating func head(of request: HTTPRequest) -> [String] {
        var newest = redactors.popLast() ?? Redactor(names: .default, request: request)
        defer { redactors.append(newest) }
        var lines = ["\(request.method) \(hidingRepetitions(in: newest.text(request.redactedTarget)))"]
        for line in request.headers { lines.append("\(newest.hidingSecrets(line.name)): \(newest.value(of: line))") }
        return lines.map(hidingSecrets)
    }

    /// The status line and the header lines of a response.
    package mutating func head(of response: HTTPResponse) -> [String] {
        learnCookies(of: response)
        let reason = response.reason.isEmpty ? "" : " \(response.reason)"
        var lines = [text("HTTP/\(response.version.rawValue) \(response.status)\(reason)")]
        for line in response.headers { lines.append(shown(line)) }
        return lines
    }

    /// Remembers the values of cookies, which other lines may repeat.
    private mutating func learnCookies(of response: HTTPResponse) {
        guard var newest = redactors.popLast() else { return }
        defer { redactors.append(newest) }
        let lines = response.headers.lazy.filter { CredentialNames.responseFields.contains($0.name.lowercased()) }
        for line in lines.prefix(Self.mostCookies) { _ = newest.value(of: line) }
    }

    private mutating func shown(_ line: HTTPHeaders.Element) -> String {
        guard !CredentialNames.responseFields.contains(line.name.lowercased()), var newest = redactors.popLast() else {
            return "\(line.name): [redacted]"
        }
        let redacted = newest.value(of: line)
        redactors.append(newest)
        let value = hidingSecrets(redacted)
        return "\(hidingSecrets(line.name)): \(credentials.isFound(in: value.utf8) ? "[redacted]" : value)"
    }

    /// Redacts the query items of a target, or its path, in which a credential occurs in any encoding: a redirect may have put it
    /// there.
    private func hidingRepetitions(in target: String) -> String {
        guard credentials.isFound(in: target.utf8) else { return target }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = credentials.isFound(in: parts[0].utf8) ? "/[redacted]" : String(parts[0])
        guard parts.count == 2 else { return path }
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard credentials.isFound(in: item.utf8) else { return String(item) }
            return item.firstIndex(of: "=").map { "\(item[...$0])[redacted]" } ?? "[redacted]"
        }
        return "\(path)?\(items.joined(separator: "&"))"
    }

    /// Redacts a server's or a plugin's text: known secrets, values under secret names, tokens, and passwords in URLs.
    package func text(_ text: String) -> String {
        hidingSecrets(redactors.last?.text(text) ?? text)
    }

    /// Redacts a value for a program to read: known secrets, but nothing that only looks like a secret.
    package func value(_ value: String) -> String { hidingSecrets(value) }

    /// Redacts known secrets in an absolute URL, even in another encoding: a redirect may have put a credential there.
    package func url(_ url: String) -> String {
        let bytes = url.utf8
        let mark = bytes.indices.first { bytes[$0...].starts(with: "://".utf8) }.map { bytes.index($0, offsetBy: 3) }
        let path = bytes[(mark ?? bytes.startIndex)...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        guard let path else { return hidingSecrets(url) }
        return hidingSecrets("\(url[..<path])\(hidingRepetitions(in: String(url[path...])))")
    }

    /// Redacts a message of the program itself, which may name a secret and explain how to give it: known secrets and tokens, and,
    /// within URLs, all that ``text(_:)`` redacts.
    package func message(_ message: String) -> String {
        var shown = ""
        var rest = message.utf8[...]
        while let word = Self.nextURL(in: rest) {
            shown += String(decoding: rest[..<word.startIndex], as: UTF8.self)
            shown += Self.isHTTP(word) ? text(ShownURL.text(String(decoding: word, as: UTF8.self))) : Self.withoutPassword(word)
            rest = rest[word.endIndex...]
        }
        shown += String(decoding: rest, as: UTF8.self)
        let bytes = Array(shown.utf8)
        return hidingSecrets(String(decoding: bytes.replacing(Redactor.tokens(in: bytes), with: Redactor.mark), as: UTF8.self))
    }

    /// Returns the first URL, from its scheme (RFC 3986 §3.1) up to white space or a quotation mark.
    private static func nextURL(in text: Substring.UTF8View) -> Substring.UTF8View? {
        var start = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: ":"), text[index...].starts(with: "://".utf8) {
                let end = text[index...].firstIndex(where: endsURL) ?? text.endIndex
                return text[start..<end]
            }
            if !text[index].isSchemeByte { start = text.index(after: index) }
            index = text.index(after: index)
        }
        return nil
    }

    private static func isHTTP(_ url: Substring.UTF8View) -> Bool {
        url.prefix(4).map(\.lowercased).elementsEqual("http".utf8)
    }

    /// Redacts the password in a URL of another kind, such as a database's. The user's name isn't a secret.
    private static func withoutPassword(_ url: Substring.UTF8View) -> String {
        guard let at = url.lastIndex(of: UInt8(ascii: "@")), let mark = url.firstIndex(of: UInt8(ascii: ":")),
            let colon = url[mark...].dropFirst().prefix(upTo: at).firstIndex(of: UInt8(ascii: ":"))
        else { return String(decoding: url, as: UTF8.self) }
        return String(decoding: url[...colon], as: UTF8.self) + "[redacted]" + String(decoding: url[at...], as: UTF8.self)
    }

    private static func endsURL(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }

    private func hidingSecrets(_ text: String) -> String {
        redactors.reduce(text) { $1.hidingSecrets($0) }
    }
}
