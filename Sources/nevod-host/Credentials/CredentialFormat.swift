import NevodHost

/// The texts in which `header` prints a credential.
enum CredentialFormat: String, CaseIterable, Sendable {
    case lines, json, netrc, curl

    /// Whether only a program reads the text, so that a terminal is surely a mistake.
    var isForPrograms: Bool { self == .netrc || self == .curl }

    /// - Parameters:
    ///   - host: the host of the request, without a port.
    ///   - user: the name beside a token, where a program needs one.
    func text(_ credential: IssuedCredential, host: String, user: String) throws -> String {
        switch self {
        case .lines:
            guard !credential.isInURL else {
                throw UnusableCredentialError(
                    "\(credential.writer) writes its credential into the URL, which lines can't say; give --format json or --format curl"
                )
            }
            return credential.lines.map { "\($0.name): \($0.value)\n" }.joined()
        case .json: return Self.json(credential).text + "\n"
        case .netrc:
            let (user, password) = try credential.userAndPassword(user: user)
            return try "machine \(host) login \(Self.netrcWord(user)) password \(Self.netrcWord(password))\n"
        case .curl:
            let url = credential.isInURL ? "url = \(Self.curlWord(credential.url))\n" : ""
            return credential.lines.map { "header = \(Self.curlWord("\($0.name): \($0.value)"))\n" }.joined() + url
        }
    }

    private static func json(_ credential: IssuedCredential) -> JSON {
        var names: [String] = []
        for line in credential.lines where !names.contains(line.name) { names.append(line.name) }
        // Lines of one name have the same meaning when they are joined (RFC 9110 §5.3).
        let headers = names.map { name in
            (name, JSON.string(credential.lines.filter { $0.name == name }.map(\.value).joined(separator: ", ")))
        }
        return .object([
            ("url", .string(credential.url)), ("headers", .object(headers)),
            ("expires_at", credential.expiryText.map(JSON.string) ?? .null),
        ])
    }

    /// Quotes a word for curl's --config: `\"` and `\\` are the escapes for characters that a header line may have.
    private static func curlWord(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// Quotes a word of a netrc file where it needs it; old programs don't know quotes.
    private static func netrcWord(_ text: String) throws -> String {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw UnusableCredentialError("a netrc file can't hold a control character")
        }
        let isPlain = !text.isEmpty && text.utf8.first != UInt8(ascii: "#") && !text.utf8.contains { " \"\\".utf8.contains($0) }
        return isPlain ? text : "\"\(escaped(text))\""
    }

    private static func escaped(_ text: String) -> String {
        String(
            decoding: text.utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\t"): Array("\\t".utf8)
                default: [byte]
                }
            }, as: UTF8.self)
    }
}
