import Glibc
import NevodHost
import NevodSupport

/// Writes a response to its destination: unchanged to a pipe or a file; at a terminal, made safe and with JSON formatted.
struct ResponseWriter {
    let arguments: Arguments
    let console: Console
    private let color: ColorChoice
    /// Decides when the output may be written; nil if this is the command's only request.
    let turn: OutputTurn?

    init(arguments: Arguments, console: Console, turn: OutputTurn?) throws(UsageError) {
        self.arguments = arguments
        self.console = console
        self.turn = turn
        color = try ColorChoice(arguments)
    }

    /// Waits for the turn to write, then writes the response's body, and its head if flags ask for it.
    ///
    /// - Parameter log: the operation's log. `-i`, `-I` and `-D` write the heads of all its hops. This method sets its file.
    func write(_ response: HTTPResponse, after log: HopLog) async throws {
        await turn?.wait()
        let hops = log.hops
        try dumpHeads(of: hops)
        let file = try OutputFile(arguments, response)
        log.file = file.path
        let path = file.path
        var output = try BodyOutput(path, file.placement)
        output.refusesBinary = BinaryBody.isRefused(arguments, path)
        output.pager = pager(for: response, output.isTerminal)
        do {
            if arguments.has(.include) || arguments.has(.headOnly) { try writeHeads(hops, to: &output) }
            if !arguments.has(.headOnly) { try await writeBody(of: try limited(response), to: &output, named: path) }
        } catch {
            output.release(isTrusted: ExitCode.of(error) != ExitCode.refused)
            throw error
        }
        try output.finish()
        file.setDate(arguments, response)
    }

    private func writeBody(of response: HTTPResponse, to output: inout BodyOutput, named path: String?) async throws {
        guard path == nil, output.isTerminal || color == .always else {
            return try await writeRaw(response, to: &output, named: path)
        }
        let inColour = color.colors(output.isTerminal)
        if let kind = response.mediaType.flatMap(RecordStream.Kind.init) {
            try await writeRecords(response.body, RecordStream(kind, inColour: inColour), to: &output)
        } else if response.isJSON {
            try await writeFormatted(response.body, inColour, to: &output)
        } else {
            try await writeRaw(response, to: &output, named: path)
        }
    }

    private func writeRaw(_ response: HTTPResponse, to output: inout BodyOutput, named path: String?) async throws {
        switch response.body {
        case .bytes(let bytes): try output.writeBody(bytes)
        case .stream(let pieces):
            var progress = ProgressLine(isShown: path != nil && !output.isTerminal && showsProgress, name: path ?? "")
            let total = response.headers["Content-Length"].flatMap { Int64($0) }
            do {
                while !output.isClosed, let piece = try await output.next(of: pieces) {
                    try output.writeBody(piece)
                    progress.advance(by: piece.count, of: total)
                }
            } catch {
                progress.clear()
                throw error
            }
            progress.finish()
        }
    }

    private func writeRecords(_ body: HTTPResponseBody, _ stream: RecordStream, to output: inout BodyOutput) async throws {
        var stream = stream
        switch body {
        case .bytes(let bytes): try output.writeSafe(stream.format(bytes))
        case .stream(let pieces):
            while let piece = try await output.next(of: pieces) { try output.writeSafe(stream.format(piece)) }
        }
        try output.writeSafe(stream.finish())
    }

    private func writeFormatted(_ body: HTTPResponseBody, _ inColour: Bool, to output: inout BodyOutput) async throws {
        var bytes: [UInt8] = []
        switch body {
        case .bytes(let all): bytes = all
        case .stream(let pieces):
            do {
                while bytes.count <= JSONFormatter.largest, let piece = try await output.next(of: pieces) { bytes += piece }
            } catch {
                // Shows the part that has arrived, unless the response was refused.
                if ExitCode.of(error) != ExitCode.refused { try output.writeBody(bytes) }
                throw error
            }
            guard bytes.count <= JSONFormatter.largest else {
                try output.writeBody(bytes)
                while !output.isClosed, let piece = try await output.next(of: pieces) { try output.writeBody(piece) }
                return
            }
        }
        if let formatted = JSONFormatter(inColour: inColour).format(bytes) {
            try output.writeSafe(formatted)
        } else {
            try output.writeBody(bytes)
        }
    }
}

extension HTTPResponse {
    /// Returns the same response with another body.
    func replacingBody(_ body: HTTPResponseStream) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: .stream(body))
    }

    /// `application/json`, and any type that ends in `+json` (RFC 6839 §3.1).
    var isJSON: Bool {
        guard let type = mediaType else { return false }
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// The type of the body without its parameters, in lower case.
    var mediaType: String? {
        headers["Content-Type"].map { String($0.lowercased().prefix { $0 != ";" && $0 != " " }) }
    }
}
