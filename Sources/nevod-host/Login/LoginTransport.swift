import NevodHost
import NevodSupport

/// Sends a flow's requests through the session and traces the address and outcome of each, without bodies and queries, which are
/// secret.
struct LoginTransport: HTTPTransport {
    let session: CurlSession
    let reporter: LoginReporter
    let console: Console
    let connectTimeout: Duration
    /// The header lines that login requests share with the command's requests: a session may be bound to them.
    let client: ClientLines

    var executor: (any TaskExecutor)? { session.executor }

    var decodesContent: Bool { session.decodesContent }

    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        reporter.willSend(to: request.origin)
        var request = request
        client.add(to: &request)
        Redaction.shared.learn(request)
        var options = options
        options.connectTimeout = connectTimeout
        let what = "login: \(request.method) \(request.origin)\(request.target.prefix { $0 != "?" })"
        do throws(TransportError) {
            let response = try await session.send(request, options)
            console.trace("*", "\(what): \(response.status)")
            return response
        } catch {
            console.trace("*", "\(what): \(error)")
            throw error
        }
    }
}

/// Reports the origins that a login sends to: the settings' origins when it begins, and origins from an issuer's metadata before
/// their first use.
final class LoginReporter: Sendable {
    private let console: Console
    private let shown: Locked<Set<String>>
    private let sent = Locked(false)

    /// - Parameter origins: the origins that the settings name.
    init(console: Console, origins: [String]) {
        self.console = console
        shown = Locked(Set(origins))
    }

    func loginBegins(_ title: String, _ origins: [Origin]) {
        let places = origins.map(\.description).joined(separator: ", ")
        console.inform("logging in with \"\(title)\"" + (origins.isEmpty ? "" : ", which sends to \(places)"))
    }

    /// Whether the login has sent a request.
    var hasSent: Bool { sent.withLock(\.self) }

    func willSend(to origin: Origin) {
        sent.withLock { $0 = true }
        let isNew = shown.withLock { $0.insert(origin.description).inserted }
        if isNew { console.inform("the login also sends to \(origin), which its issuer's metadata names") }
    }
}

/// Shows with `-v` what happens to a session's token. The command itself reports failures, so only the end of a session is a
/// warning here, with the way out.
struct LoginLog: NetworkLogger {
    let console: Console
    /// The command to suggest for logging in; nil for none.
    let loginCommand: String?

    func isEnabled(_ level: LogLevel) -> Bool { level >= .warning || level >= .info && console.isVerbose }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        console.trace("*", message)
        guard metadata["event"] == "refused" else { return }
        console.warning("the session is cleared; log in again" + (loginCommand.map { ": \($0)" } ?? ""))
    }
}
