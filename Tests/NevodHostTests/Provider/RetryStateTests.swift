import NevodTestSupport
import Testing

@testable import NevodHost

struct RetryStateTests {
    private static let now = UnixTime(seconds: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT
    private static let exact = RetryPolicy(maxAttempts: 10, baseDelay: 1.0, maxDelay: 60.0, multiplier: 2.0, jitter: false)

    private func response(_ status: Int, _ headers: [(String, String)] = []) -> Result<HTTPResponse, TransportError> {
        var fields = HTTPHeaders()
        for (name, value) in headers { fields.add(name, value, by: .host) }
        return .success(HTTPResponse(version: .http11, status: status, reason: "", headers: fields, body: .bytes([])))
    }

    private func decide(
        _ outcome: Result<HTTPResponse, TransportError>, _ method: HTTPMethod = .get, policy: RetryPolicy = exact,
        attempts: Int = 0, body: HTTPBody = .none, headers: [String: String] = [:]
    ) throws -> RetryDecision {
        var request = try HTTPRequest(method, "http://h/p", body: body)
        for (name, value) in headers { try request.setHeader(name, value) }
        var state = RetryState(policy, attempts: attempts)
        var random = SeededRandom(seed: 1)
        return state.next(after: outcome, of: request, random: &random, now: Self.now)
    }

    private static let methods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "get", "OTHER"]
    private static let codes: [TransportError.Code] = [
        .cancelled, .hostNotFound, .connectionFailed, .timedOut, .tls, .tlsConfiguration, .connectionLost, .malformedResponse,
        .headTooLarge(limit: 1), .bodyTooLarge(limit: 1), .proxyRefused(status: 503), .pinMismatch, .requestBody, .other,
    ]

    /// Compares every combination of outcome and method with the table.
    @Test(arguments: methods)
    func `Each outcome is retried, or given up, by its kind`(method: String) throws {
        let method = try #require(HTTPMethod(rawValue: method))
        let isIdempotent = Self.methods.prefix(6).contains(method.rawValue)
        for status in 100...599 {
            let expected: RetryDecision =
                switch status {
                case 429: .wait(.seconds(1))
                case 408, 500, 502, 503, 504: isIdempotent ? .wait(.seconds(1)) : .giveUp(.notIdempotent)
                default: .giveUp(.finalOutcome)
                }
            #expect(try decide(response(status), method) == expected, "\(status)")
        }
        for code in Self.codes {
            let expected: RetryDecision =
                switch code {
                case .hostNotFound, .connectionFailed: .wait(.seconds(1))
                case .timedOut, .connectionLost: isIdempotent ? .wait(.seconds(1)) : .giveUp(.notIdempotent)
                default: .giveUp(.finalOutcome)
                }
            #expect(try decide(.failure(TransportError(code)), method) == expected, "\(code)")
        }
    }

    @Test func `A POST is retried with an idempotency key, or if the policy says so`() throws {
        let lost = Result<HTTPResponse, TransportError>.failure(TransportError(.timedOut))
        #expect(try decide(lost, .post) == .giveUp(.notIdempotent))
        #expect(try decide(lost, .post, headers: ["idempotency-KEY": "1"]) == .wait(.seconds(1)))
        var policy = Self.exact
        policy.retriesUnsafeMethods = true
        #expect(try decide(lost, .post, policy: policy) == .wait(.seconds(1)))
        #expect(try decide(.failure(TransportError(.tls)), .post, policy: policy) == .giveUp(.finalOutcome))
    }

    @Test func `No retry begins after the policy's time`() throws {
        var policy = Self.exact
        policy.maxTime = .seconds(10)
        let request = try HTTPRequest(.get, "http://h/")
        var random = SeededRandom(seed: 1)
        for (attempts, elapsed, expected) in [
            (0, 0, RetryDecision.wait(.seconds(1))), (0, 9, .wait(.seconds(1))), (0, 10, .giveUp(.timeUsedUp)),
            (3, 1, .wait(.seconds(8))), (3, 3, .giveUp(.timeUsedUp)), (5, 0, .giveUp(.timeUsedUp)),
        ] {
            var state = RetryState(policy, attempts: attempts)
            let decision = state.next(
                after: response(503), of: request, random: &random, now: Self.now, elapsed: .seconds(elapsed))
            #expect(decision == expected, "\(attempts) attempts, \(elapsed) s")
        }
        #expect(try decide(response(503, [("Retry-After", "11")]), policy: policy) == .giveUp(.timeUsedUp))
        #expect(try decide(response(503, [("Retry-After", "10")]), policy: policy) == .wait(.seconds(10)))
    }

    @Test func `A policy may retry all failures, though not a response or a cancellation`() throws {
        var policy = Self.exact
        policy.retriesAllFailures = true
        for code in Self.codes {
            let expected: RetryDecision =
                switch code {
                case .cancelled, .tlsConfiguration, .requestBody: .giveUp(.finalOutcome)
                default: .wait(.seconds(1))
                }
            #expect(try decide(.failure(TransportError(code)), policy: policy) == expected, "\(code)")
        }
        #expect(try decide(response(404), policy: policy) == .giveUp(.finalOutcome))
        // Repeating a request that may have taken effect needs explicit permission.
        #expect(try decide(.failure(TransportError(.malformedResponse)), .post, policy: policy) == .giveUp(.notIdempotent))
        #expect(try decide(.failure(TransportError(.tls)), .post, policy: policy) == .wait(.seconds(1)))
    }

    @Test func `A body that can be read once is not sent twice`() throws {
        for isReplayable in [true, false] {
            let body = HTTPBody.stream(.of([[1]], length: 1, isReplayable: isReplayable))
            let decision = try decide(response(503), .put, body: body)
            #expect(decision == (isReplayable ? .wait(.seconds(1)) : .giveUp(.bodyNotReplayable)))
        }
    }

    @Test func `Delays double up to the maximum`() throws {
        let delays = try (0..<9).map { try decide(response(503), attempts: $0) }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .wait(.seconds($0)) })
        #expect(try decide(response(503), attempts: 9) == .giveUp(.attemptsUsedUp))
        // The delay is valid for any number of attempts and any settings.
        #expect(RetryPolicy(maxAttempts: .max, baseDelay: 1.0, maxDelay: 1e12).delay(after: .max) == .seconds(1e9))
        #expect(RetryPolicy(baseDelay: 0.0).delay(after: .max) == .zero)
        #expect(RetryPolicy(baseDelay: .nan, maxDelay: -1).delay(after: 2) == .zero)
        #expect(RetryPolicy(baseDelay: 1.0, multiplier: .nan).delay(after: 3) == .seconds(60))
    }

    @Test func `A state counts the attempts it sees`() throws {
        var state = RetryState(RetryPolicy(maxAttempts: 3, baseDelay: .seconds(1), jitter: false))
        var random = SystemRandomNumberGenerator()
        let request = try HTTPRequest(.get, "http://h/")
        let decisions = (1...4).map { _ in state.next(after: response(503), of: request, random: &random, now: Self.now) }
        #expect(decisions == [.wait(.seconds(1)), .wait(.seconds(2)), .giveUp(.attemptsUsedUp), .giveUp(.attemptsUsedUp)])
        #expect(state.attempts == 4)
    }

    /// The jitter is uniform from zero to the whole delay: each tenth of the range gets about a tenth of 10,000 delays.
    @Test func `Full jitter draws delays from zero up to the backoff`() throws {
        var tenths = [Int](repeating: 0, count: 10)
        var random = SeededRandom(seed: 7)
        let request = try HTTPRequest(.get, "http://h/")
        for _ in 0..<10_000 {
            var state = RetryState(RetryPolicy(baseDelay: .seconds(4)), attempts: 1)
            guard case .wait(let delay) = state.next(after: response(503), of: request, random: &random, now: Self.now) else {
                Issue.record("gave up")
                return
            }
            #expect(delay >= .zero && delay <= .seconds(8))
            tenths[min(9, Int(delay.inSeconds / 0.8))] += 1
        }
        #expect(tenths.allSatisfy { (900...1100).contains($0) }, "\(tenths)")
    }

    private static let retryAfter: [(text: String, seconds: Int?)] = [
        ("0", 0), ("7", 7), ("60", 60), ("0007", 7),
        ("Sun, 06 Nov 1994 08:49:44 GMT", 7), ("Sunday, 06-Nov-94 08:49:44 GMT", 7), ("Sun Nov  6 08:49:44 1994", 7),
        // In the past.
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ("-1", nil), ("7.5", nil), ("soon", nil), ("", nil), ("7, 8", nil), ("+7", nil),
    ]

    @Test(arguments: retryAfter)
    func `Retry-After replaces the backoff`(text: String, seconds: Int?) throws {
        let decision = try decide(response(503, [("Retry-After", text)]), attempts: 2)
        #expect(decision == .wait(.seconds(seconds ?? 4)))
    }

    @Test func `A Retry-After date counts from the response's Date`() throws {
        let ahead = [("Date", "Tue, 06 Nov 2029 08:49:37 GMT"), ("Retry-After", "Tue, 06 Nov 2029 08:49:47 GMT")]
        #expect(try decide(response(503, ahead)) == .wait(.seconds(10)))
    }

    @Test(arguments: [
        ("61", 61), ("99999999999999999999", Int(Int32.max)), ("Sun, 06 Nov 1994 08:50:38 GMT", 61),
    ])
    func `A Retry-After beyond the limit is given up, not shortened`(text: String, seconds: Int) throws {
        let decision = try decide(response(429, [("Retry-After", text)]))
        #expect(decision == .giveUp(.serverAsksForMore(.seconds(seconds))))
    }

    @Test func `With jitter, no retry precedes Retry-After, or exceeds the maximum`() throws {
        var random = SeededRandom(seed: 3)
        let request = try HTTPRequest(.get, "http://h/")
        var delays = Set<Duration>()
        for _ in 0..<1000 {
            var state = RetryState(RetryPolicy(baseDelay: .seconds(2), maxDelay: .seconds(11)))
            let outcome = response(503, [("Retry-After", "10")])
            guard case .wait(let delay) = state.next(after: outcome, of: request, random: &random, now: Self.now) else {
                continue
            }
            #expect(delay >= .seconds(10) && delay <= .seconds(11))
            delays.insert(delay)
        }
        #expect(delays.count > 100)
    }

    @Test func `Presets have their delays, also given in seconds`() {
        #expect(RetryPolicy(maxAttempts: 3, baseDelay: 1.0, maxDelay: 60.0, multiplier: 2.0, jitter: true) == .default)
        #expect(RetryPolicy() == .default)
        #expect(RetryPolicy(baseDelay: 0.25).baseDelay == .milliseconds(250))
        #expect(RetryPolicy.none.maxAttempts == 1)
        #expect(RetryPolicy.aggressive.maxAttempts > RetryPolicy.default.maxAttempts)
        #expect(RetryPolicy.conservative.maxAttempts < RetryPolicy.default.maxAttempts)
    }

    @Test func `Presets have Nevod's numbers, and say them`() {
        #expect(RetryPolicy.aggressive == RetryPolicy(maxAttempts: 5, baseDelay: 0.5, maxDelay: 30))
        #expect(RetryPolicy.conservative == RetryPolicy(maxAttempts: 2, baseDelay: 2, maxDelay: 10, jitter: false))
        #expect("\(RetryPolicy.default)" == "3 attempts, waits of up to 1.0 s, then × 2.0, at most 60.0 s")
        #expect("\(RetryPolicy.conservative)" == "2 attempts, waits of 2.0 s, then × 2.0, at most 10.0 s")
        #expect("\(RetryPolicy.none)" == "no retries")
    }
}
