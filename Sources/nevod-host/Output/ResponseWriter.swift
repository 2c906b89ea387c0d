import Glibc
import NevodHost
import NevodSupport

/// Writes a response to its destination: unchanged into a pipe or a file; made safe, and with JSON formatted, at a terminal.
struct ResponseWriter {
    let arguments: Arguments
    let console: Console
    private let color: ColorChoice
    /// Whether the command has no other requests.
    private let isAlone: Bool

    /// Larger JSON is not formatted: it is not read at a terminal.
    private static let largestFormatted = 4 << 20

    init(arguments: Arguments, console: Console, isAlone: Bool) throws(UsageError) {
        self.arguments = arguments
        self.console = console
        self.isAlone = isAlone
        color = try ColorChoice(arguments)
    }

    /// Whether progress may be shown.
    var showsProgress: Bool { !console.isSilent && !arguments.has(.noProgressMeter) && !arguments.has(.parallel) }

    /// Writes the response's head, as far as flags ask for it, and its body.
    ///
    /// - Parameter log: of the operation: `-i`, `-I` and `-D` write the heads of all its hops. Its file is set.
    func write(_ response: HTTPResponse, after log: HopLog) async throws {
        let hops = log.hops
        try dumpHeads(of: hops)
        let file = try OutputFile(arguments, response)
        log.file = file.path
        let path = file.path
        var output = try BodyOutput(path, file.placement)
        output.refusesBinary = path == nil && arguments.value(.output) == nil
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

    /// Writes the heads that have arrived when no body will be written: after a failure, with `--fail`, or of a file that is complete. As with curl, they are in
    /// the file of `-D` and, with `-i`, on standard output.
    ///
    /// - Parameter error: the failure; nil without one. A response that its plugin refused can't be trusted, its head included.
    func writeHeads(of hops: [Hop], after error: (any Error)? = nil) throws {
        if let error, ExitCode.of(error) == ExitCode.refused { return }
        try dumpHeads(of: hops)
        // A file appears only when it is complete.
        guard arguments.has(.include) || arguments.has(.headOnly), !OutputFile.isNamed(by: arguments),
            hops.contains(where: { $0.response != nil })
        else { return }
        var output = try BodyOutput(nil)
        try writeHeads(hops, to: &output)
        try output.finish()
    }

    private func writeHeads(_ hops: [Hop], to output: inout BodyOutput) throws {
        try output.write(HeadLines.bytes(of: hops, isForTerminal: output.isTerminal))
    }

    private func dumpHeads(of hops: [Hop]) throws {
        if let path = arguments.value(.dumpHeader) { try HeadFile.append(hops, to: path) }
    }

    /// Applies `--max-filesize`: fails as soon as the declared or received length exceeds the limit.
    private func limited(_ response: HTTPResponse) throws -> HTTPResponse {
        let limit = try SessionBuilder(arguments: arguments).maxFileSize()
        guard limit < .max, case .stream(let pieces) = response.body else { return response }
        let tooLarge = TransportError(.bodyTooLarge(limit: Int(limit)), curlCode: 63)
        if let length = response.headers["Content-Length"].flatMap({ Int64($0) }), length > limit { throw tooLarge }
        return response.replacingBody(pieces.limited(to: limit, failure: tooLarge))
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
                while bytes.count <= Self.largestFormatted, let piece = try await output.next(of: pieces) { bytes += piece }
            } catch {
                // The part that has arrived is worth seeing, unless the response was refused.
                if ExitCode.of(error) != ExitCode.refused { try output.writeBody(bytes) }
                throw error
            }
            guard bytes.count <= Self.largestFormatted else {
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

    /// A pager for a document that a person reads: one of a known length, or JSON that is formatted. What comes in pieces is shown as
    /// it comes. With `--max-time` there is none, since a person who reads takes time.
    private func pager(for response: HTTPResponse, _ isTerminal: Bool) -> Pager? {
        guard isAlone, isTerminal, !arguments.has(.output), !arguments.has(.noBuffer), !arguments.has(.noPager),
            !arguments.has(.maxTime), !arguments.has(.headOnly),
            environment("TERM") != "dumb", response.mediaType.flatMap(RecordStream.Kind.init) == nil,
            response.isJSON || response.headers.contains("Content-Length")
        else { return nil }
        return PagerCommand { trustedEnvironment($0) }.map { Pager($0, terminal: .standardOutput) }
    }
}
