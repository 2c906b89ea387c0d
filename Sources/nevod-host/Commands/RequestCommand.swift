import NevodHost

/// Sends one request and writes the response.
struct RequestCommand: Sendable {
    let arguments: Arguments
    let console: Console
    let session: CurlSession
    /// The number of the URL, from 0.
    var number = 0

    func run() async throws {
        let authorization = try await RequestAuthorization(arguments, console, session)
        try await SchemeLogin.savingTokens(of: [authorization.login], on: session) { try await run(with: authorization) }
    }

    /// Sends the request with a credential that other requests may share. Writes the response, and then what `-c` and `-w` ask
    /// for.
    ///
    /// - Parameter turn: decides when the output may be written; nil if this is the only request.
    func run(with authorization: RequestAuthorization, _ turn: OutputTurn? = nil) async throws {
        let log = HopLog()
        let writeOut = try WriteOut(arguments)
        do {
            do { try await send(with: authorization, turn, log) } catch {
                try? authorization.cookies?.save()
                throw error
            }
            try authorization.cookies?.save()
        } catch {
            guard let writeOut else { throw error }
            await turn?.wait()
            let message = Redaction.shared.message("\(error)")
            // If this fails as well, the request's failure is reported.
            try? writeOut.write(values(log, (ExitCode.of(error), message)))
            throw error
        }
        try writeOut?.write(values(log, nil))
    }

    private func values(_ log: HopLog, _ failure: (code: Int32, message: String)?) -> WriteOutValues {
        WriteOutValues(
            url: arguments.operands.first ?? "", urlNumber: number, hops: log.hops, failure: failure,
            filename: log.file ?? OutputFile.expectedPath(arguments))
    }

    private func send(with authorization: RequestAuthorization, _ turn: OutputTurn?, _ log: HopLog) async throws {
        var (request, typedNames) = try RequestBuilder(arguments: arguments).build()
        var options = try SessionBuilder(arguments: arguments).options()
        options.schemeParameters = authorization.parameters
        let writer = try ResponseWriter(arguments: arguments, console: console, turn: turn)
        let transport = HopTransport(
            session: session, log: log, console: console, recordsConnections: arguments.has(.writeOut))
        let provider = NetworkProvider(
            session: try authorization.cookies?.transport(transport, for: request) ?? transport,
            interceptor: InterceptorChain(try authorization.interceptors(for: request, typedNames: typedNames)),
            logger: RequestLog(console: console))
        if let file = arguments.value(.uploadFile) {
            request.body = request.body.showingProgress(name: file, isShown: writer.showsProgress && !console.isVerbose)
        }
        let resumption = try Resumption(arguments)
        let response: HTTPResponse
        do { response = try await provider.send(request, options) } catch {
            try? await writer.writeHeads(of: log.hops, after: error)
            throw error
        }
        let refusal = Refusal(response, after: log.hops, arguments, authorization.scheme?.instance.scheme)
        try await write(response, refusal, resumption, to: writer, log)
    }
}

/// Shows the provider's notices, such as retries, as warnings on the console, and its other lines with `-v`.
struct RequestLog: NetworkLogger {
    let console: Console

    func isEnabled(_ level: LogLevel) -> Bool { level >= .notice || level >= .info && console.isVerbose }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        if level >= .notice { console.warning(message) } else { console.trace("*", message) }
    }
}
