// Whether a request is sent once more: the chain decides first, then the servers' clocks, then the retry policy with its budget.
extension NetworkProvider {
    /// Limits the attempts that interceptors ask for, in case one always wants a retry. A retry policy limits its own attempts.
    private static let maxAttempts = 16

    func mayMakeNextAttempt(after attempt: Int, _ retries: RetryState) -> Bool {
        attempt - retries.attempts < Self.maxAttempts
    }

    /// Whether the chain, a corrected clock or the retry policy asks for another attempt. If it is the policy, returns after its
    /// wait.
    func wantsNextAttempt(
        _ exchange: inout Exchange, _ retries: inout RetryState, after outcome: Result<HTTPResponse, TransportError>,
        _ deadline: Deadline
    ) async throws(NetworkError) -> Bool {
        if try await chainWantsRetry(&exchange, outcome) { return true }
        // Done after the chain was asked: a scheme's verdict comes first.
        if case .success(let response) = outcome,
            exchange.bindings.signing.shouldSignAgain(exchange.request, after: response)
        {
            return true
        }
        return try await waitBeforeRetry(&retries, exchange, outcome, deadline)
    }

    private func chainWantsRetry(
        _ exchange: inout Exchange, _ outcome: Result<HTTPResponse, TransportError>
    ) async throws(NetworkError) -> Bool {
        do {
            return try await DispatchSlots.$isNested.withValue(true) { try await chain.retry(&exchange, after: outcome) }
        } catch {
            throw failure(error)
        }
    }

    /// Asks the retry policy, and waits if it says so.
    ///
    /// - Returns: whether to send the request again.
    private func waitBeforeRetry(
        _ retries: inout RetryState, _ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>,
        _ deadline: Deadline
    ) async throws(NetworkError) -> Bool {
        var random = SystemRandomNumberGenerator()
        let decision = retries.next(
            after: outcome, of: exchange.request, random: &random, now: HostClock.system.now,
            elapsed: retries.elapsed(sinceFirst: exchange.began))
        // A retry after the deadline would only replace the outcome with a timeout. The budget is charged last, only for a retry
        // that is made.
        guard case .wait(let pause) = decision, deadline.allows(pause),
            mayMakeNextAttempt(after: exchange.attempt, retries), retries.isBudgeted ? budget.withdraw() : true
        else { return false }
        let redactor = Redactor(names: .default, request: exchange.request)
        logger?.notice(
            redactor.text(retries.notice(of: outcome, pause: pause)),
            ["request": "\(exchange.request)", "attempt": "\(exchange.attempt + 1)", "after": "\(pause)"])
        do { try await Task.sleep(for: pause) } catch { throw .cancelled }
        return true
    }
}
