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
        let provider = NetworkProvider(session: session, interceptor: try interceptors(), signer: token) { request in
            for line in request.redactedHead { console.trace(">", line) }
            console.trace(">", "")
        }
        let response = try await provider.send(request, try SessionBuilder(arguments: arguments).options())
        trace(response)
        if arguments.has(.fail), response.status >= 400 {
            throw HTTPStatusError(status: response.status, reason: response.reason)
        }
        try await write(response)
    }

    private func interceptors() throws -> InterceptorChain {
        var interceptors: [any RequestInterceptor] = []
        if let user = arguments.value(.user) {
            interceptors.append(TokenInterceptor(try UserSource(console: console).credential(user)))
        }
        let retries = try SessionBuilder(arguments: arguments).retries()
        if retries > 0 { interceptors.append(TransientRetry(retries: retries, console: console)) }
        return InterceptorChain(interceptors)
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
        var output = try BodyOutput(outputPath())
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

    private func outputPath() -> String? {
        guard let file = arguments.value(.output), file != "-", let folder = arguments.value(.outputDirectory) else {
            return arguments.value(.output)
        }
        return file.hasPrefix("/") ? file : "\(folder)/\(file)"
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
