import NevodHost
import NevodSupport

/// The heads of responses, as HTTP/1.1 has them.
enum HeadLines {
    /// The status line and the header lines, each without its line break.
    static func of(_ response: HTTPResponse) -> [String] {
        let reason = response.reason.isEmpty ? "" : " \(response.reason)"
        return ["HTTP/\(response.version.rawValue) \(response.status)\(reason)"]
            + response.headers.map { "\($0.name): \($0.value)" }
    }

    /// The heads of all responses of an operation in their order, each with an empty line behind it.
    ///
    /// - Parameter isForTerminal: whether each line stays one line, and has escapes in place of control characters.
    static func bytes(of hops: [Hop], isForTerminal: Bool) -> [UInt8] {
        hops.compactMap(\.response).flatMap { response in
            let lines = of(response).map { isForTerminal ? TerminalText.safe($0) : $0 }
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }
}
