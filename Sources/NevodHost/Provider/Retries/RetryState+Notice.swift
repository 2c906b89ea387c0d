extension RetryState {
    var isBudgeted: Bool { policy.isBudgeted }

    /// The log line for a retry that is about to be made: `the server responded with 503; retrying in 2 s (1 of 3)`.
    ///
    /// - Parameters:
    ///   - outcome: the failed attempt's.
    ///   - pause: the wait before the retry, rounded up to whole seconds in the text.
    func notice(of outcome: Result<HTTPResponse, TransportError>, pause: Duration) -> String {
        let reason =
            switch outcome {
            case .success(let response): "the server responded with \(response.status)"
            case .failure(let error): error.description
            }
        let seconds = pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0)
        return "\(reason); retrying in \(seconds) s (\(attempts) of \(policy.maxAttempts - 1))"
    }
}
