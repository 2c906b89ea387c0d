import NevodHost
import NevodSupport

/// The default command: sends one request and writes the response.
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
        try await Interruption.shared.cancelling(on: session.executor, gracePeriod: SchemeLogin.gracePeriod) {
            do { try await send(request, all) } catch {
                await login.waitForPendingToken()
                throw error
            }
            await login.waitForPendingToken()
        }
    }

    private func send(_ request: HTTPRequest, _ interceptors: [any RequestInterceptor]) async throws {
        var request = request
        var options = try SessionBuilder(arguments: arguments).options()
        let console = console
        let provider = NetworkProvider(
            session: session, interceptor: InterceptorChain(interceptors), logger: RequestLog(console: console)
        ) { request in
            Redaction.shared.learn(request)
            guard console.isVerbose else { return }
            console.trace(">", redacted: Redaction.shared.head(of: request) + [""])
        }
        let latest = MetricsBox()
        options.onMetrics = { latest.set($0) }
        if let file = arguments.value(.uploadFile) {
            request.body = request.body.showingProgress(name: file, isShown: !console.isSilent && !console.isVerbose)
        }
        let response = try await provider.send(request, options)
        trace(response)
        if arguments.has(.fail), response.status >= 400 {
            throw HTTPStatusError(status: response.status, reason: Redaction.shared.text(response.reason))
        }
        try await ResponseWriter(arguments: arguments, console: console).write(response)
        if arguments.has(.timing), let metrics = latest.value { console.note(Timing(metrics).lines) }
    }

    private func interceptors() throws -> [any RequestInterceptor] {
        var interceptors: [any RequestInterceptor] = []
        if let user = arguments.value(.user) {
            interceptors.append(TokenInterceptor(try UserSource(console: console).credential(user)))
        }
        return interceptors
    }

    private func trace(_ response: HTTPResponse) {
        guard console.isVerbose else { return }
        console.trace("<", redacted: Redaction.shared.head(of: response) + [""])
    }
}

/// The measurements of the last transfer, which in a redirect chain is the one that gave the response.
private final class MetricsBox: Sendable {
    private let latest = Locked<TransferMetrics?>(nil)

    var value: TransferMetrics? { latest.withLock { $0 } }

    func set(_ metrics: TransferMetrics) {
        latest.withLock { $0 = metrics }
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

/// A response with a status of 400 or higher, with `--fail`.
struct HTTPStatusError: Error, CustomStringConvertible {
    let status: Int
    let reason: String
    var description: String { "the server responded with \(status)\(reason.isEmpty ? "" : " \(reason)")" }
}
