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
        guard let login = authorization.login, authorization.mayRenew else {
            return try await send(authorization)
        }
        try await Interruption.shared.cancelling(on: session.executor, gracePeriod: SchemeLogin.gracePeriod) {
            do { try await send(authorization) } catch {
                await login.waitForPendingToken()
                throw error
            }
            await login.waitForPendingToken()
        }
    }

    /// Sends this request as one of several.
    ///
    /// - Parameter turn: when its body may be written.
    func send(_ authorization: RequestAuthorization, _ turn: OutputTurn? = nil) async throws {
        let log = HopLog()
        guard let writeOut = try WriteOut(arguments) else { return try await exchange(authorization, turn, log) }
        do { try await exchange(authorization, turn, log) } catch {
            await turn?.wait()
            let message = Redaction.shared.message("\(error)")
            // The failure that is reported is the request's.
            try? writeOut.write(values(log, (ExitCode.of(error), message)))
            throw error
        }
        try writeOut.write(values(log, nil))
    }

    private func values(_ log: HopLog, _ failure: (code: Int32, message: String)?) -> WriteOutValues {
        WriteOutValues(
            url: arguments.operands.first ?? "", urlNumber: number, hops: log.hops, failure: failure,
            filename: log.file ?? OutputFile.expectedPath(arguments))
    }

    /// Sends the request, writes its response, and then the cookies.
    private func exchange(_ authorization: RequestAuthorization, _ turn: OutputTurn?, _ log: HopLog) async throws {
        do { try await transfer(authorization, turn, log) } catch {
            try? authorization.cookies?.save()
            throw error
        }
        try authorization.cookies?.save()
    }

    private func transfer(_ authorization: RequestAuthorization, _ turn: OutputTurn?, _ log: HopLog) async throws {
        var (request, typedNames) = try RequestBuilder(arguments: arguments).build()
        let options = try SessionBuilder(arguments: arguments).options()
        let writer = try ResponseWriter(arguments: arguments, console: console, isAlone: turn == nil)
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
            await turn?.wait()
            try? writer.writeHeads(of: log.hops, after: error)
            throw error
        }
        let hops = log.hops
        let fails = response.status >= 400 ? arguments.failureMode : nil
        let refusal = Refusal(response, after: hops, arguments, authorization.login?.scheme.instance.scheme)
        // A refusal's body is no part of the file. Of a file that is complete, a server has no further part (416).
        let isPartRefused = resumption.offset > 0 && fails != nil
        if fails == .withoutBody || isPartRefused, !resumption.isBeyondEnd(response) {
            let error = await statusError(response, refusal, readsBody: true)
            await turn?.wait()
            try writer.writeHeads(of: hops, after: error)
            throw error
        }
        let isComplete: Bool
        do throws(RangeError) { isComplete = try resumption.isComplete(response) } catch {
            let status = await statusError(response, refusal, readsBody: true)
            await turn?.wait()
            try writer.writeHeads(of: hops, after: error)
            throw status.explanation.isEmpty ? error : error.explained(by: status)
        }
        await turn?.wait()
        if isComplete { return try writer.writeHeads(of: hops) }
        try await writer.write(response, after: log)
        if arguments.has(.timing), let metrics = log.last?.metrics { console.note(Timing(metrics).lines) }
        guard response.status >= 400 else { return }
        let error = await statusError(response, refusal, readsBody: false)
        if fails != nil { throw error }
        if !error.explanation.isEmpty { console.warning(error.description) }
    }

    /// - Parameter readsBody: whether the body, which isn't printed, is searched for the server's reason.
    private func statusError(_ response: HTTPResponse, _ refusal: Refusal?, readsBody: Bool) async -> HTTPStatusError {
        var error = HTTPStatusError(status: response.status, reason: Redaction.shared.text(response.reason))
        guard var refusal else { return error }
        if readsBody, refusal.isOfCredential { refusal.detail = await RefusalDetail.read(response) }
        error.refusesCredential = refusal.isOfCredential
        error.explanation = refusal.explanation ?? ""
        return error
    }
}

extension Timing {
    /// Maps zero, libcurl's value for steps that did not happen, to nil.
    fileprivate init(_ metrics: TransferMetrics) {
        let happened = { (seconds: Double) in seconds > 0 ? seconds : nil }
        self.init(
            nameLookup: happened(metrics.nameLookup), connect: happened(metrics.connect), tls: happened(metrics.tls),
            firstByte: happened(metrics.firstByte), total: metrics.total, sent: Int64(metrics.uploaded),
            received: Int64(metrics.downloaded))
    }
}
