import NevodHost

/// `--retry`: once more after what may pass, each time waiting twice as long, or as long as the server says (RFC 9110 §10.2.3).
struct TransientRetry: RequestInterceptor {
    private let policy: RetryPolicy
    private let console: Console

    /// A person asked for it: for this request, whatever its method, and says when it is enough. So no jitter, which is for
    /// many clients that failed together.
    init(retries: Int, console: Console) {
        policy = RetryPolicy(
            maxAttempts: retries + 1, baseDelay: .seconds(1), maxDelay: .seconds(600), jitter: false, retriesUnsafeMethods: true)
        self.console = console
    }

    func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        var state = RetryState(policy, attempts: exchange.attempt - 1)
        var random = SystemRandomNumberGenerator()
        let decision = state.next(after: outcome, of: exchange.request, random: &random, now: HostClock.system.now)
        guard case .wait(let pause) = decision else { return false }
        console.warning(
            "\(Self.reason(outcome)); trying again in \(Self.seconds(pause)) s (\(exchange.attempt) of \(policy.maxAttempts - 1))"
        )
        try await Task.sleep(for: pause)
        return true
    }

    private static func reason(_ outcome: Result<HTTPResponse, TransportError>) -> String {
        switch outcome {
        case .success(let response): "the server answered \(response.status)"
        case .failure(let error): error.description
        }
    }

    /// Rounded up: a date is some fraction of a second away.
    private static func seconds(_ pause: Duration) -> Int64 {
        pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0)
    }
}
