import NevodHost

/// The default command: sends one request and writes the answer.
struct RequestCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        let request = try RequestBuilder(arguments: arguments).request()
        let token = try PluginLoader(arguments: arguments, console: console).token()
        let console = console
        let provider = NetworkProvider(session: session, signer: token) { request in
            for line in request.redactedHead { console.trace(">", line) }
            console.trace(">", "")
        }
        let response = try await provider.send(request, try options())
        trace(response)
        if arguments.has(.fail), response.status >= 400 {
            throw HTTPStatusError(status: response.status, reason: response.reason)
        }
        try await write(response)
    }

    private func options() throws -> TransferOptions {
        var options = TransferOptions(timeout: nil, delivery: .streamed)
        if let text = arguments.value(.maxTime) {
            guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
                throw UsageError("--max-time \(text) is not a number of seconds")
            }
            options.timeout = .milliseconds(max(1, Int64(seconds * 1000)))
        }
        return options
    }

    private func trace(_ response: HTTPResponse) {
        console.trace("<", statusLine(response))
        for line in response.headers {
            let isSecret = ["set-cookie", "set-cookie2"].contains(line.name.lowercased())
            console.trace("<", "\(line.name): \(isSecret ? "[redacted]" : line.value)")
        }
        console.trace("<", "")
    }

    private func write(_ response: HTTPResponse) async throws {
        var output = try BodyOutput(arguments.value(.output))
        if arguments.has(.include) {
            let head = [statusLine(response)] + response.headers.map { "\($0.name): \($0.value)" }
            try output.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        }
        switch response.body {
        case .bytes(let bytes): try output.write(bytes)
        case .stream(let pieces): while let piece = try await pieces.next() { try output.write(piece) }
        }
        try output.finish()
    }

    private func statusLine(_ response: HTTPResponse) -> String {
        "HTTP/\(response.version.rawValue) \(response.status)\(response.reason.isEmpty ? "" : " \(response.reason)")"
    }
}

/// With `--fail`: an answer that says no.
struct HTTPStatusError: Error, CustomStringConvertible {
    let status: Int
    let reason: String
    var description: String { "the server answered \(status)\(reason.isEmpty ? "" : " \(reason)")" }
}
