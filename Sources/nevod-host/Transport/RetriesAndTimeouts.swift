import NevodHost
import NevodSupport

extension SessionBuilder {
    func options() throws -> RequestOptions {
        var options = RequestOptions(timeout: nil, delivery: .streamed, redirects: .none)
        if let limit = try maxTime() { options.timeout = TimeLimit.remaining(of: limit) }
        if let limit = try seconds(.connectTimeout) { options.connectTimeout = limit }
        let redirects = try count(.maxRedirects) ?? 10
        if arguments.has(.location) { options.redirects = .follow(limit: redirects) }
        if let retries = try count(.retry) { options.retryPolicy = try retryPolicy(retries) }
        return options
    }

    /// The limit of `--max-time`, counted from the start of the process.
    func maxTime() throws -> Duration? { try seconds(.maxTime) }

    /// Retries any method, and without jitter: jitter is for many clients that fail together, and here a person asked to retry
    /// one request. The waits double from 1 s, or follow `Retry-After` (RFC 9110 §10.2.3), up to 10 minutes.
    private func retryPolicy(_ retries: Int) throws -> RetryPolicy {
        var policy = RetryPolicy(
            maxAttempts: retries + 1, baseDelay: .seconds(1), maxDelay: .seconds(600), jitter: false, retriesUnsafeMethods: true,
            isBudgeted: false)
        // As in curl, zero means the default.
        if let delay = try seconds(.retryDelay, mayBeZero: true), delay > .zero {
            (policy.baseDelay, policy.maxDelay, policy.multiplier) = (delay, max(delay, policy.maxDelay), 1)
        }
        if let limit = try seconds(.retryMaxTime, mayBeZero: true), limit > .zero { policy.maxTime = limit }
        policy.retriesAllFailures = arguments.has(.retryAllErrors)
        return policy
    }

    private func seconds(_ name: Flag.Name, mayBeZero: Bool = false) throws -> Duration? {
        guard let text = arguments.value(name) else { return nil }
        // Only digits and a point: Double also parses hexadecimal, exponents and `inf`.
        let isPlain = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0.isDigit }
        guard isPlain, let seconds = Double(text), seconds > 0 || mayBeZero, seconds < 1e9 else {
            throw UsageError("\(name.spelling) \(text) is not a number of seconds")
        }
        return seconds == 0 ? .zero : .milliseconds(max(1, Int64(seconds * 1000)))
    }

    private func count(_ name: Flag.Name) throws -> Int? {
        guard let text = arguments.value(name) else { return nil }
        guard let count = Int(digits: text.utf8), count <= 50 else {
            throw UsageError("\(name.spelling) \(text) is not a number from 0 to 50")
        }
        return count
    }
}
