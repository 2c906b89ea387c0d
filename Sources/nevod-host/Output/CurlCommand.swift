import NevodHost
import NevodSupport

/// A curl command that sends a request unchanged. The command contains the credential.
struct CurlCommand {
    let request: HTTPRequest

    func text() throws -> String {
        var words = ["curl", "--path-as-is", "--globoff", "-X", quoted(request.method.rawValue)]
        if request.method == .head { words = ["curl", "--path-as-is", "--globoff", "--head"] }
        for line in request.headers where !["content-length", "transfer-encoding"].contains(line.name.lowercased()) {
            words += ["-H", quoted(line.value.isEmpty ? "\(line.name);" : "\(line.name): \(line.value)")]
        }
        switch request.body {
        case .none: break
        case .bytes(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0), bytes.first != UInt8(ascii: "@") else {
                throw UsageError("--curl can't write a binary body into a command; put it in a file and use -T FILE")
            }
            words += ["--data-binary", quoted(text)]
        case .stream: throw UsageError("--curl can't write a streamed body into a command; use --data-binary")
        }
        words.append(quoted(request.url))
        return words.joined(separator: " ")
    }

    private func quoted(_ text: String) -> String { ShellWord.quoted(text) }
}

/// Quotes text as one word of a shell command.
enum ShellWord {
    /// Returns the text for any shell: in single quotes if any character in it is special.
    static func quoted(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : inSingleQuotes(text)
    }

    /// Splits by bytes: a quote followed by a combining mark is not a Character of its own, and would stay unescaped.
    static func inSingleQuotes(_ text: String) -> String {
        let parts = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-_./:".utf8.contains(byte)
    }
}
