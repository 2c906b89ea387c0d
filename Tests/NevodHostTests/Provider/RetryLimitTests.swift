import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the limits of a policy's retries in a provider: attempts, budget and deadline.
struct RetryLimitTests {
    private struct RetryingOnce: RequestInterceptor {
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            exchange.attempt == 1
        }
    }

    private func send(
        _ transport: TestTransport, _ policy: RetryPolicy, timeout: Duration? = nil, logger: (any NetworkLogger)? = nil,
        interceptor: any RequestInterceptor = InterceptorChain([])
    ) async throws -> HTTPResponse {
        try await NetworkProvider(session: transport, interceptor: interceptor, logger: logger)
            .send(HTTPRequest(.get, "http://h/"), RequestOptions(timeout: timeout, retryPolicy: policy))
    }

    @Test func `An unbudgeted policy makes all the attempts that it allows`() async throws {
        let transport = TestTransport { _, _ in 503 }
        let policy = RetryPolicy(maxAttempts: 51, baseDelay: Duration.zero, jitter: false, isBudgeted: false)
        #expect(try await send(transport, policy).status == 503)
        #expect(transport.sent.count == 51)
    }

    @Test func `A budgeted policy stops when the budget is exhausted`() async throws {
        let transport = TestTransport { _, _ in 503 }
        let policy = RetryPolicy(maxAttempts: 51, baseDelay: Duration.zero, jitter: false)
        #expect(try await send(transport, policy).status == 503)
        #expect(transport.sent.count < 20)
    }

    @Test func `A retry that an interceptor asks for takes none of the policy's`() async throws {
        let transport = TestTransport { attempt, _ in attempt == 1 ? 401 : 503 }
        let policy = RetryPolicy(maxAttempts: 51, baseDelay: Duration.zero, jitter: false, isBudgeted: false)
        #expect(try await send(transport, policy, interceptor: RetryingOnce()).status == 503)
        #expect(transport.sent.count == 52)
    }

    @Test func `Each retry is a notice that says why, when and how many are left`() async throws {
        let transport = TestTransport { attempt, _ throws(TransportError) in
            guard attempt > 1 else { throw TransportError(.timedOut) }
            return attempt == 2 ? 503 : 200
        }
        let logger = CollectingLogger()
        let policy = RetryPolicy(maxAttempts: 4, baseDelay: .milliseconds(1), jitter: false)
        #expect(try await send(transport, policy, logger: logger).status == 200)
        #expect(
            logger.entries.map(\.message) == [
                "\(TransportError(.timedOut)); retrying in 1 s (1 of 3)",
                "the server responded with 503; retrying in 1 s (2 of 3)",
            ])
        #expect(logger.entries.map { $0.metadata["attempt"] } == ["2", "3"])
        #expect(logger.entries.allSatisfy { $0.level == .notice })
    }

    @Test func `The notice of a retry shows no credential that the transport's message repeats`() async throws {
        let transport = TestTransport { attempt, request throws(TransportError) in
            guard attempt > 1 else { throw TransportError(.timedOut, "no response from \(request.url)") }
            return 200
        }
        let logger = CollectingLogger()
        let token = TokenInterceptor(QueryAPIKeyToken(apiKey: "hunter2-hunter2", paramName: "k"))
        let policy = RetryPolicy(maxAttempts: 2, baseDelay: .milliseconds(1), jitter: false)
        #expect(try await send(transport, policy, logger: logger, interceptor: token).status == 200)
        #expect(logger.entries.map { $0.message.contains("[redacted]") } == [true])
        #expect(!logger.entries.contains { "\($0)".contains("hunter2") })
    }

    @Test func `A wait that the deadline cuts short is neither begun nor noted`() async throws {
        let transport = TestTransport { _, _ in 503 }
        let logger = CollectingLogger()
        let policy = RetryPolicy(
            maxAttempts: 2, baseDelay: .seconds(300), maxDelay: .seconds(600), jitter: false, isBudgeted: false)
        #expect(try await send(transport, policy, timeout: .seconds(200), logger: logger).status == 503)
        #expect(transport.sent.count == 1)
        #expect(logger.entries.isEmpty)
    }
}
