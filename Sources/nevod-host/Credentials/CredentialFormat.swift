import Glibc
import NevodHost
import NevodSupport

/// The formats in which `header` prints a credential.
enum CredentialFormat: String, CaseIterable, Sendable {
    case lines, json, netrc, curl

    /// Whether only a program reads the text, so that printing it to a terminal is surely a mistake.
    var isForPrograms: Bool { self == .netrc || self == .curl }

    /// - Parameters:
    ///   - host: the host of the request, without a port.
    ///   - user: the name to give with a token, if the format needs one.
    func text(_ credential: IssuedCredential, host: String, user: String) throws -> String {
        switch self {
        case .lines:
            guard !credential.isInURL else {
                throw UnusableCredentialError(
                    "\(credential.writer) writes its credential into the URL, which header lines can't express; give --format json or --format curl"
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
        // Lines with the same name keep their meaning when they are joined (RFC 9110 §5.3).
        let headers = names.map { name in
            (name, JSON.string(credential.lines.filter { $0.name == name }.map(\.value).joined(separator: ", ")))
        }
        return .object([
            ("url", .string(credential.url)), ("headers", .object(headers)),
            ("expires_at", credential.expiryText.map(JSON.string) ?? .null),
        ])
    }

    /// Quotes a word for curl's --config. Only the escapes `\"`, `\\` and `\t` are needed: a header line has no other special
    /// characters.
    private static func curlWord(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// Quotes a word of a netrc file only if necessary: old programs don't understand quotes.
    private static func netrcWord(_ text: String) throws -> String {
        guard !text.utf8.contains(where: \.isControl) else {
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

/// Writes a credential to standard output, or to the descriptor of `--fd`.
struct CredentialOutput: Sendable {
    private let descriptor: FileDescriptor

    /// - Throws: ``UsageError`` if the descriptor can't be written to, or if text that only programs read would go to a terminal.
    init(_ arguments: Arguments, isForPrograms: Bool = false) throws(UsageError) {
        if let text = arguments.value(.descriptor) {
            guard let number = Int32(text), number > 0, OwnDescriptor.isWritable(number) else {
                throw UsageError(
                    "--fd \(text) is not a descriptor that is open for writing; open it in the shell, with \(text)>FILE"
                )
            }
            descriptor = FileDescriptor(number: number, name: "descriptor \(number)")
        } else {
            descriptor = .standardOutput
        }
        guard !isForPrograms || isatty(descriptor.number) == 0 else {
            throw UsageError("this output is for a program, and would show a secret on the terminal; redirect it, or give --fd")
        }
    }

    func write(_ text: String) throws(OutputError) {
        try descriptor.write(text)
    }
}
