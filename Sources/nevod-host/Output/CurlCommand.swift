import NevodHost

/// A curl command that sends a request as it stands, for people who want to try it elsewhere. It holds the credential.
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

    /// For any shell: in single quotes, unless nothing in it means anything to a shell.
    private func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "/"), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
        return isPlain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
