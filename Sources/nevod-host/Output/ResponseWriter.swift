import Glibc
import NevodHost
import NevodSupport

/// Writes a response to its destination: unchanged into a pipe or a file; made safe, and with JSON formatted, at a terminal.
struct ResponseWriter {
    let arguments: Arguments
    let console: Console

    /// Larger JSON is not formatted: it is not read at a terminal.
    private static let largestFormatted = 4 << 20

    func write(_ response: HTTPResponse) async throws {
        let response = try limited(response)
        let path = outputPath()
        var output = try BodyOutput(path)
        if arguments.has(.include) {
            let lines = head(of: response).map { output.isTerminal ? TerminalText.safe($0) : $0 }
            try output.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        }
        if path == nil, output.isTerminal, isJSON(response) {
            try await writeFormatted(response.body, to: &output)
        } else {
            try await writeRaw(response, to: &output, named: path)
        }
        try output.finish()
    }

    func head(of response: HTTPResponse) -> [String] {
        let reason = response.reason.isEmpty ? "" : " \(response.reason)"
        return ["HTTP/\(response.version.rawValue) \(response.status)\(reason)"]
            + response.headers.map { "\($0.name): \($0.value)" }
    }

    /// Applies `--max-filesize`: fails as soon as the declared or received length exceeds the limit.
    private func limited(_ response: HTTPResponse) throws -> HTTPResponse {
        let limit = try SessionBuilder(arguments: arguments).maxFileSize()
        guard limit < .max, case .stream(let pieces) = response.body else { return response }
        let tooLarge = TransportError(.bodyTooLarge(limit: Int(limit)), curlCode: 63)
        if let length = response.headers["Content-Length"].flatMap({ Int64($0) }), length > limit { throw tooLarge }
        return response.replacingBody(pieces.limited(to: limit, failure: tooLarge))
    }

    private func writeRaw(_ response: HTTPResponse, to output: inout BodyOutput, named path: String?) async throws {
        switch response.body {
        case .bytes(let bytes): try output.write(bytes)
        case .stream(let pieces):
            var progress = ProgressLine(isShown: path != nil && !console.isSilent, name: path ?? "")
            let total = response.headers["Content-Length"].flatMap { Int64($0) }
            do {
                while let piece = try await pieces.next() {
                    try output.write(piece)
                    progress.advance(by: piece.count, of: total)
                }
            } catch {
                progress.clear()
                throw error
            }
            progress.finish()
        }
    }

    private func writeFormatted(_ body: HTTPResponseBody, to output: inout BodyOutput) async throws {
        var bytes: [UInt8] = []
        switch body {
        case .bytes(let all): bytes = all
        case .stream(let pieces):
            while bytes.count <= Self.largestFormatted, let piece = try await pieces.next() { bytes += piece }
            guard bytes.count <= Self.largestFormatted else {
                try output.write(bytes)
                while let piece = try await pieces.next() { try output.write(piece) }
                return
            }
        }
        let inColour = environment("NO_COLOR") == nil && environment("TERM") != "dumb"
        if let formatted = JSONFormatter(inColour: inColour).format(bytes) {
            try output.writeSafe(formatted)
        } else {
            try output.write(bytes)
        }
    }

    /// `application/json`, and any type that ends in `+json` (RFC 6839 §3.1).
    private func isJSON(_ response: HTTPResponse) -> Bool {
        guard let type = response.headers["Content-Type"]?.lowercased() else { return false }
        let name = type.prefix { $0 != ";" && $0 != " " }
        return name == "application/json" || name.hasSuffix("+json")
    }

    private func outputPath() -> String? {
        guard let file = arguments.value(.output), file != "-" else { return nil }
        guard let folder = arguments.value(.outputDirectory), !file.hasPrefix("/") else { return file }
        return "\(folder)/\(file)"
    }
}
