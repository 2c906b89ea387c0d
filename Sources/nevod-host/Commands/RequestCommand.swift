import NevodHost
import NevodSupport

/// The default command: sends one request and writes the answer.
struct RequestCommand: Sendable {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        let request = try RequestBuilder(arguments: arguments).request()
        let interceptors = try interceptors()
        guard let scheme = try PluginLoader(arguments: arguments, console: console).scheme() else {
            return try await send(request, interceptors)
        }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
        let all = interceptors + [try await login.interceptor()]
        guard scheme.instance.scheme.hasFlows else { return try await send(request, all) }
        try await Interruption.shared.cancelling(on: session.executor, patience: SchemeLogin.patience) {
            do { try await send(request, all) } catch {
                await login.settle()
                throw error
            }
            await login.settle()
        }
    }

    private func send(_ request: HTTPRequest, _ interceptors: [any RequestInterceptor]) async throws {
        var request = request
        var options = try SessionBuilder(arguments: arguments).options()
        let console = console
        let provider = NetworkProvider(session: session, interceptor: InterceptorChain(interceptors)) { request in
            for line in request.redactedHead { console.trace(">", line) }
            console.trace(">", "")
        }
        let latest = MetricsBox()
        options.onMetrics = { latest.set($0) }
        if let file = arguments.value(.uploadFile) {
            request.body = request.body.showingProgress(name: file, isShown: !console.isSilent && !console.isVerbose)
        }
        let response = try await provider.send(request, options)
        trace(response)
        if arguments.has(.fail), response.status >= 400 {
            throw HTTPStatusError(status: response.status, reason: response.reason)
        }
        try await ResponseWriter(arguments: arguments, console: console).write(response)
        if arguments.has(.timing), let metrics = latest.value { console.note(Timing(metrics).lines) }
    }

    private func interceptors() throws -> [any RequestInterceptor] {
        var interceptors: [any RequestInterceptor] = []
        if let user = arguments.value(.user) {
            interceptors.append(TokenInterceptor(try UserSource(console: console).credential(user)))
        }
        let retries = try SessionBuilder(arguments: arguments).retries()
        if retries > 0 { interceptors.append(TransientRetry(retries: retries, console: console)) }
        return interceptors
    }

    private func trace(_ response: HTTPResponse) {
        let head = ResponseWriter(arguments: arguments, console: console).head(of: response)
        console.trace("<", head[0])
        for (text, line) in zip(head.dropFirst(), response.headers) {
            let isSecret = SecretNames.responseFields.contains(line.name.lowercased())
            console.trace("<", isSecret ? "\(line.name): [redacted]" : text)
        }
        console.trace("<", "")
    }
}

/// The measurements of the last transfer: of a redirect chain, the one that answered.
private final class MetricsBox: Sendable {
    private let latest = Locked<TransferMetrics?>(nil)

    var value: TransferMetrics? { latest.withLock { $0 } }

    func set(_ metrics: TransferMetrics) {
        latest.withLock { $0 = metrics }
    }
}

extension Timing {
    /// libcurl says zero for what did not happen.
    fileprivate init(_ metrics: TransferMetrics) {
        let happened = { (seconds: Double) in seconds > 0 ? seconds : nil }
        self.init(
            nameLookup: happened(metrics.nameLookup), connect: happened(metrics.connect), tls: happened(metrics.tls),
            firstByte: happened(metrics.firstByte), total: metrics.total, sent: Int64(metrics.uploaded),
            received: Int64(metrics.downloaded))
    }
}

/// With `--fail`: an answer that says no.
struct HTTPStatusError: Error, CustomStringConvertible {
    let status: Int
    let reason: String
    var description: String { "the server answered \(status)\(reason.isEmpty ? "" : " \(reason)")" }
}
