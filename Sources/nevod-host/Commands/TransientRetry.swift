import NevodHost

/// `--retry`: once more after what may pass, each time waiting twice as long, or as long as the server says (RFC 9110 §10.2.3).
struct TransientRetry: RequestInterceptor {
    let retries: Int
    let console: Console

    private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    private static let longestWait = 600

    func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard exchange.attempt <= retries, let reason = Self.reason(outcome) else { return false }
        var seconds = min(1 << min(exchange.attempt - 1, 16), Self.longestWait)
        if case .success(let response) = outcome, let text = response.headers["Retry-After"], let asked = Int(text) {
            guard asked <= Self.longestWait else { return false }
            seconds = max(0, asked)
        }
        console.warning("\(reason); trying again in \(seconds) s (\(exchange.attempt) of \(retries))")
        try await Task.sleep(for: .seconds(seconds))
        return true
    }

    private static func reason(_ outcome: Result<HTTPResponse, TransportError>) -> String? {
        switch outcome {
        case .success(let response): statuses.contains(response.status) ? "the server answered \(response.status)" : nil
        case .failure(let error):
            switch error.code {
            case .timedOut, .hostNotFound, .connectionFailed, .connectionLost: error.description
            default: nil
            }
        }
    }
}
