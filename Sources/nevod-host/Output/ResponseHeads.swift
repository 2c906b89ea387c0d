import NevodHost
import NevodSupport

extension ResponseWriter {
    /// Waits for the turn to write, then writes the heads that have arrived. Used if a response's body isn't written: after a
    /// failure, with `--fail`, or if the file is complete already. As with curl, the heads go to the file of `-D`, and with `-i`
    /// to standard output.
    ///
    /// - Parameter error: the failure; nil without one. If the plugin refused the response, its head can't be trusted either.
    func writeHeads(of hops: [Hop], after error: (any Error)? = nil) async throws {
        await turn?.wait()
        if let error, ExitCode.of(error) == ExitCode.refused { return }
        try dumpHeads(of: hops)
        // A body's file appears only when it is complete, so heads alone aren't written to it.
        guard arguments.has(.include) || arguments.has(.headOnly), !OutputFile.isNamed(by: arguments),
            hops.contains(where: { $0.response != nil })
        else { return }
        var output = try BodyOutput(nil)
        try writeHeads(hops, to: &output)
        try output.finish()
    }

    func writeHeads(_ hops: [Hop], to output: inout BodyOutput) throws {
        try output.write(HeadLines.bytes(of: hops, isForTerminal: output.isTerminal))
    }

    func dumpHeads(of hops: [Hop]) throws {
        if let path = arguments.value(.dumpHeader) { try HeadFile.append(hops, to: path) }
    }
}

/// The heads of responses, in the form of HTTP/1.1.
enum HeadLines {
    /// The status line and the header lines, each without its line break.
    static func of(_ response: HTTPResponse) -> [String] {
        let reason = response.reason.isEmpty ? "" : " \(response.reason)"
        return ["HTTP/\(response.version.rawValue) \(response.status)\(reason)"]
            + response.headers.map { "\($0.name): \($0.value)" }
    }

    /// Returns the heads of all responses of an operation in order, each followed by an empty line.
    ///
    /// - Parameter isForTerminal: whether to escape control characters and keep each line a single line.
    static func bytes(of hops: [Hop], isForTerminal: Bool) -> [UInt8] {
        hops.compactMap(\.response).flatMap { response in
            let lines = of(response).map { isForTerminal ? TerminalText.safe($0) : $0 }
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }
}

/// The file of `-D`. It gets the heads of all requests of a command, one after another.
enum HeadFile {
    /// The bytes that each file holds so far.
    private static let contents = Locked<[String: [UInt8]]>([:])

    static func append(_ hops: [Hop], to path: String) throws(OutputError) {
        var output = try BodyOutput(path)
        // A file is replaced as a whole. Any other destination keeps what it got before.
        let new = HeadLines.bytes(of: hops, isForTerminal: output.isTerminal)
        let all = contents.withLock { contents in
            contents[path, default: []] += new
            return contents[path] ?? new
        }
        try output.write(output.isFile ? all : new)
        try output.finish()
    }
}
