import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct LoggingInterceptorTests {
    private static let secret = "Zq8vXw7yKp3Rt5Lm"

    private struct Secretive: TokenModel {
        static let phase = TokenPhase.signature
        func authorize(_ request: inout HTTPRequest) throws {
            try request.setHeader("X-Plain", LoggingInterceptorTests.secret)
            request.appendQueryItem("q".utf8, LoggingInterceptorTests.secret.utf8)
        }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> Secretive { Secretive() }
    }

    private struct Once: RequestInterceptor {
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            exchange.attempt == 1
        }
    }

    /// A server that repeats everything it is sent, in its head and in its body.
    private func echo() throws -> RawServer {
        try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let target = request.head.split(separator: " ")[1]
                let body = request.head + String(decoding: request.body, as: UTF8.self)
                connection.write(
                    "HTTP/1.1 200 OK\r\nLocation: \(target)\r\nSet-Cookie: sid=new-session; Path=/\r\nContent-Type: text/plain\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
    }

    private func entry(
        _ detail: LoggingInterceptor.Detail, delivery: TransferOptions.Delivery = .collected(limit: 1 << 20)
    ) async throws -> CollectingLogger.Entry {
        let server = try echo()
        let logger = CollectingLogger()
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: LoggingInterceptor(logger: logger, logLevel: detail), signer: Secretive())
        let request = try HTTPRequest(.post, "\(server.url)/p?a=1&code=abcdef", body: .bytes(Array("password=hunter22&b=2".utf8)))
        let response = try await provider.send(request, RequestOptions(timeout: .seconds(30), delivery: delivery))
        // Logging leaves the response complete.
        #expect(String(decoding: try await response.body.collect(), as: UTF8.self).hasSuffix("password=hunter22&b=2"))
        #expect(logger.entries.count == 1)
        let entry = try #require(logger.entries.first)
        for secret in [Self.secret, "abcdef", "hunter22", "new-session"] { #expect(!entry.text.contains(secret), "\(secret)") }
        return entry
    }

    @Test func `Level basic logs the request line, the outcome and the duration`() async throws {
        let entry = try await entry(.basic)
        #expect(entry.level == .info)
        let pattern =
            /POST http:\/\/127\.0\.0\.1:\d+\/p\?a=1&code=\[redacted\]&q=\[redacted: token Secretive\] returned 200 in \d+\.\d ms/
        #expect(entry.message.wholeMatch(of: pattern) != nil, "\(entry.message)")
        #expect(entry.metadata == ["attempt": "1"])
    }

    @Test func `Level detailed logs the headers as sent, with those of the signer and the transport`() async throws {
        let metadata = try await entry(.detailed).metadata
        #expect(metadata["request.X-Plain"] == "[redacted: token Secretive]")
        #expect(metadata["request.Content-Length"] == "21")
        #expect(metadata["response.Location"] == "/p?a=1&code=[redacted]&q=[redacted]")
        #expect(metadata["response.Set-Cookie"] == "sid=[redacted]; Path=/")
        #expect(metadata["request.body"] == nil && metadata["response.body"] == nil)
    }

    @Test func `Level verbose logs bodies, without the secrets they repeat`() async throws {
        let metadata = try await entry(.verbose).metadata
        #expect(metadata["request.body"] == "password=[redacted]&b=2")
        let body = try #require(metadata["response.body"])
        #expect(body.hasSuffix("password=[redacted]&b=2"))
        #expect(body.contains("X-Plain: [redacted]"))
    }

    @Test func `Logging doesn't read a stream`() async throws {
        let metadata = try await entry(.verbose, delivery: .streamed).metadata
        #expect(metadata["response.body"] == "[a stream]")
        let opened = Collected<Void>()
        let logger = CollectingLogger()
        let provider = NetworkProvider(
            session: TestTransport(), interceptor: LoggingInterceptor(logger: logger, logLevel: .verbose))
        _ = try await provider.send(HTTPRequest(.put, "http://h/", body: .stream(.of([[1]], length: 1, opened: opened))))
        #expect(logger.entries.first?.metadata["request.body"] == "[a stream of 1 bytes]")
        #expect(opened.values.isEmpty)
    }

    @Test(arguments: [true, false])
    func `Every attempt is logged, wherever the interceptor is in the chain`(isFirst: Bool) async throws {
        let logger = CollectingLogger()
        let logging = LoggingInterceptor(logger: logger, logLevel: .detailed)
        let others: [any RequestInterceptor] = [HeadersInterceptor(headers: ["X-Later": "1"]), InterceptorChain([Once()])]
        let chain = InterceptorChain(isFirst ? [InterceptorChain([logging])] + others : others + [logging])
        let transport = TestTransport { attempt, _ in attempt == 1 ? 503 : 200 }
        _ = try await NetworkProvider(session: transport, interceptor: chain, signer: Secretive())
            .send(HTTPRequest(.get, "http://h/"))
        #expect(logger.entries.map { $0.metadata["attempt"] } == ["1", "2"])
        #expect(logger.entries.map(\.level) == [.warning, .info])
        for entry in logger.entries {
            #expect(entry.metadata["request.X-Later"] == "1")
            #expect(entry.metadata["request.X-Plain"] != nil)
        }
    }

    @Test func `A failure is logged as an error, without secrets`() async throws {
        let logger = CollectingLogger()
        let transport = TestTransport { _, _ throws(TransportError) in throw TransportError(.timedOut, "after \(Self.secret)") }
        let provider = NetworkProvider(
            session: transport, interceptor: LoggingInterceptor(logger: logger), signer: Secretive())
        let error = await #expect(throws: NetworkError.self) { try await provider.send(HTTPRequest(.get, "http://h/")) }
        #expect(error == .timeout)
        let entry = try #require(logger.entries.first)
        #expect(entry.level == .error)
        #expect(entry.message.hasSuffix(" ms: the request timed out: after [redacted]"))
        #expect(!entry.text.contains(Self.secret))
    }

    @Test func `A level that the logger ignores is not formatted`() async throws {
        let logger = CollectingLogger(minimum: .warning)
        let provider = NetworkProvider(session: TestTransport(), interceptor: LoggingInterceptor(logger: logger))
        _ = try await provider.send(HTTPRequest(.get, "http://h/"))
        #expect(logger.entries.isEmpty)
    }

    @Test func `Custom names are redacted`() async throws {
        let logger = CollectingLogger()
        let interceptor = LoggingInterceptor(
            logger: logger, logLevel: .detailed, redacting: .default.adding(["X-Patient"]))
        var request = try HTTPRequest(.get, "http://h/?x-patient=1234567")
        try request.setHeader("X-Patient", "1234567")
        _ = try await NetworkProvider(session: TestTransport(), interceptor: interceptor).send(request)
        #expect(logger.entries.first?.text.contains("1234567") == false)
    }
}
