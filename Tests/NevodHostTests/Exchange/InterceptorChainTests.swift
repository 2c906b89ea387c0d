import NevodTestSupport
import Testing

@testable import NevodHost

struct InterceptorChainTests {
    private struct Named: RequestInterceptor {
        let name: String
        let calls: Collected<String>
        var wantsRetry = false

        func adapt(_ exchange: inout Exchange) async throws {
            calls.append("adapt \(name)")
            try exchange.request.addHeader("X-Order", name)
        }
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            calls.append("retry \(name)")
            return wantsRetry
        }
    }

    private let calls = Collected<String>()
    private let response = Result<HTTPResponse, TransportError>.failure(TransportError(.timedOut))

    private func exchange() throws -> Exchange {
        Exchange(request: try HTTPRequest(.get, "http://h/"), options: TransferOptions(), attempt: 1)
    }

    @Test func `Interceptors adapt from first to last`() async throws {
        var exchange = try exchange()
        let inner = InterceptorChain([Named(name: "b", calls: calls), Named(name: "c", calls: calls)])
        try await InterceptorChain([Named(name: "a", calls: calls), inner, Named(name: "d", calls: calls)]).adapt(&exchange)
        #expect(exchange.request.headers.values(of: "X-Order") == ["a", "b", "c", "d"])
    }

    @Test func `Interceptors judge from last to first, until one asks for a retry`() async throws {
        var exchange = try exchange()
        let chain = InterceptorChain([
            Named(name: "a", calls: calls), Named(name: "b", calls: calls, wantsRetry: true), Named(name: "c", calls: calls),
        ])
        #expect(try await chain.retry(&exchange, after: response))
        #expect(calls.values == ["retry c", "retry b"])
    }

    @Test func `Without an interceptor that asks for it there is no retry`() async throws {
        var exchange = try exchange()
        let chain = InterceptorChain([Named(name: "a", calls: calls), Named(name: "b", calls: calls)])
        #expect(try await chain.retry(&exchange, after: response) == false)
        #expect(calls.values == ["retry b", "retry a"])
        #expect(try await InterceptorChain([]).retry(&exchange, after: response) == false)
    }

    @Test func `An error of an interceptor ends the chain`() async throws {
        struct Failing: RequestInterceptor {
            func adapt(_ exchange: inout Exchange) async throws { throw CancellationError() }
        }
        var exchange = try exchange()
        let chain = InterceptorChain([Named(name: "a", calls: calls), Failing(), Named(name: "b", calls: calls)])
        await #expect(throws: CancellationError.self) { try await chain.adapt(&exchange) }
        #expect(calls.values == ["adapt a"])
    }
}
