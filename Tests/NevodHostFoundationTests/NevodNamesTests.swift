import Foundation
import NevodHostFoundation
import NevodSupport
import NevodTestSupport
import Testing

/// Nevod's names that this module adds, and what they do.
struct NevodNamesTests {
    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private enum Stock: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Item: Codable, Equatable, Sendable {
        let id: Int
    }

    private func request(_ url: String = "https://h.example/a%2Fb?x=1") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.timeoutInterval = 7
        return request
    }

    // MARK: By hand

    @Test func `A token authorizes a URLRequest`() throws {
        var carried = try request()
        try Token(value: "t").authorize(&carried)
        try APIKeyToken(apiKey: "k").authorize(&carried)
        try QueryAPIKeyToken(apiKey: "a b").authorize(&carried)
        #expect(carried.value(forHTTPHeaderField: "Authorization") == "Bearer t")
        #expect(carried.value(forHTTPHeaderField: "X-API-Key") == "k")
        #expect(carried.url?.absoluteString == "https://h.example/a%2Fb?x=1&api_key=a%20b")
        #expect(carried.timeoutInterval == 7 && carried.httpMethod == "GET" && carried.httpBody == nil)
    }

    @Test func `A token that can't be put on a URLRequest leaves it as it was`() throws {
        var carried = try request()
        #expect(throws: InvalidRequestError.self) { try Token(value: "a\r\nX-Evil: 1").authorize(&carried) }
        #expect(carried.allHTTPHeaderFields?.isEmpty != false)
        carried.url = nil
        #expect(throws: InvalidRequestError.self) { try Token(value: "t").authorize(&carried) }
        carried = try request()
        carried.httpBodyStream = InputStream(data: Data([1]))
        #expect(throws: InvalidRequestError.self) { try Token(value: "t").authorize(&carried) }
    }

    @Test func `An interceptor adapts a URLRequest`() async throws {
        let tokens = TokenStorage<Token>(storage: InMemoryStorage())
        try await tokens.save(Token(value: "t"))
        let chain = InterceptorChain([
            AuthenticationInterceptor(tokenStorage: tokens, refreshStrategy: { _ in throw NetworkError.unauthorized }),
            HeadersInterceptor.userAgent("Shop/1"), HeadersInterceptor.apiVersion("2"),
            HeadersInterceptor.apiVersion("3", headerName: "X-V"),
        ])
        var post = try request()
        post.httpMethod = "POST"
        post.httpBody = Data("{}".utf8)
        let adapted = try await chain.adapt(post)
        #expect(
            adapted.allHTTPHeaderFields == [
                "Authorization": "Bearer t", "User-Agent": "Shop/1", "X-API-Version": "2", "X-V": "3",
            ])
        #expect(adapted.httpBody == Data("{}".utf8) && adapted.httpMethod == "POST" && adapted.timeoutInterval == 7)
    }

    @Test func `A saved nil removes the token`() async throws {
        let tokens = TokenStorage<Token>(storage: InMemoryStorage())
        try await tokens.save(Token(value: "t"))
        let none: Token? = nil
        try await tokens.save(none)
        #expect(try await tokens.load() == nil)
    }

    // MARK: Configuration

    @Test func `A configuration has Nevod's parameters`() throws {
        let url = try #require(URL(string: "https://h.example/v1"))
        let environments: [Shop: any NetworkEnvironmentProviding] = [.api: SimpleEnvironment(baseURL: url)]
        #expect(NetworkConfig(environments: environments, retryPolicy: nil).retryPolicy == .default)
        #expect(NetworkConfig(environments: environments, timeout: 5, retries: 0).retryPolicy.maxAttempts == 1)
        #expect(NetworkConfig(environments: environments, retries: .max).retries == 1_000_000)
        #expect(NetworkConfig(environments: environments, retries: -1).retries == 0)
        let config = NetworkConfig(
            environments: environments, timeout: 5, retries: 7, rateLimit: RateLimitConfiguration(requests: 2, perInterval: 0.5),
            retryPolicy: .aggressive)
        #expect(config.retryPolicy == .aggressive && config.retries == 4 && config.rateLimit?.perInterval == 0.5)
        let seconds: TimeInterval = config.timeout
        #expect(seconds == 5 && config.timeout == .seconds(5))
        #expect(try config.baseURL(for: Shop.api).get() == url)
        #expect(throws: NetworkError.invalidURL) { try config.baseURL(for: Stock.api).get() }
        #expect(try config.environment(for: Shop.api).get().baseURL.urlString == url.absoluteString)
        let baseURL: URL = SimpleEnvironment(baseURL: url).baseURL
        #expect(baseURL == url)
    }

    @Test func `The services of several modules form one configuration`() throws {
        let one: [AnyHashable: any NetworkEnvironmentProviding] = [
            Shop.api: SimpleEnvironment(baseURL: "https://old.example"),
            "no domain": SimpleEnvironment(baseURL: "https://x.example"),
        ]
        let two: [AnyHashable: any NetworkEnvironmentProviding] = [
            Shop.api: SimpleEnvironment(baseURL: "https://shop.example"),
            Stock.api: SimpleEnvironment(baseURL: "https://stock.example"),
        ]
        let config = NetworkConfig(environmentConfigurations: [one, two])
        #expect(try config.baseURL(for: Shop.api).get().host == "shop.example")
        #expect(try config.baseURL(for: Stock.api).get().host == "stock.example")
    }

    // MARK: Routes

    @Test func `A route makes a URLRequest, and shows what it sends`() throws {
        let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://h.example/v1")], timeout: 9)
        let route = SimplePostRoute<Item, Shop>(
            endpoint: "/items", domain: .api, queryParameters: ["q": "1"], bodyParameters: ["b": "2", "a": "1"])
        let made: Result<URLRequest, NetworkError> = route.makeRequest(with: config)
        let request = try made.get()
        #expect(request.url?.absoluteString == "https://h.example/v1/items?q=1" && request.timeoutInterval == 9)
        #expect(request.httpBody == Data(#"{"a":"1","b":"2"}"#.utf8) && request.httpMethod == HTTPMethod.post.stringValue)
        #expect(route.bodyData == request.httpBody && route.bodyParameters == ["a": "1", "b": "2"])
        #expect(route.urlQueryItems == [URLQueryItem(name: "q", value: "1")])
        let get = SimpleGetRoute<Item, Shop>(endpoint: "/items", domain: .api)
        #expect(get.bodyData == nil && get.urlQueryItems == nil && get.bodyParameters == nil)
        let none: Result<URLRequest, NetworkError> = get.makeRequest(
            with: NetworkConfig(environments: [Stock: any NetworkEnvironmentProviding]()))
        #expect(throws: NetworkError.invalidURL) { try none.get() }
    }

    @Test func `A form is built with a boundary of the caller's`() throws {
        var form = MultipartFormDataBuilder(boundary: "shop-1")
        form.addTextField(name: "name", value: "tea")
        form.addFile(name: "label", filename: "a.txt", data: Data("x".utf8), mimeType: "text/plain")
        let (data, contentType) = try form.build()
        let text =
            "--shop-1\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\ntea\r\n"
            + "--shop-1\r\nContent-Disposition: form-data; name=\"label\"; filename=\"a.txt\"\r\n"
            + "Content-Type: text/plain\r\n\r\nx\r\n--shop-1--\r\n"
        #expect(data == Data(text.utf8) && contentType == "multipart/form-data; boundary=shop-1")
        #expect(form.boundaryString == "shop-1" && form.parts.map(\.data) == [Data("tea".utf8), Data("x".utf8)])
        form.addTextField(name: "evil", value: "--shop-1--")
        #expect(throws: InvalidRequestError.self) { let _: MultipartForm = try form.build() }
        for boundary in ["", "a b", "a\r\nX", "a;b", "ø", String(repeating: "a", count: 71)] {
            #expect(throws: InvalidRequestError.self, "\(boundary)") {
                let _: MultipartForm = try MultipartFormDataBuilder(boundary: boundary).build()
            }
        }
        var file = MultipartFormDataBuilder()
        file.addFile(name: "file", path: "/etc/hostname")
        #expect(throws: InvalidRequestError.self) { let _: (data: Data, contentType: String) = try file.build() }
    }

    // MARK: Errors, retries, limits

    @Test func `Errors are made of Foundation's responses`() throws {
        let url = try #require(URL(string: "https://h.example"))
        let head = try #require(
            HTTPURLResponse(url: url, statusCode: 422, httpVersion: nil, headerFields: ["X-A": "1"]))
        let error = NetworkError.clientError(response: head, data: Data(#"{"id":7}"#.utf8))
        #expect(error == .clientError(422) && error.tryDecode(Item.self) == Item(id: 7))
        #expect(error.httpResponse?.statusCode == 422 && error.httpResponse?.value(forHTTPHeaderField: "X-A") == "1")
        #expect(NetworkError.clientError(code: 404, data: Data([1]), response: head).responseData == Data([1]))
        #expect(NetworkError.serverError(code: 503, data: nil, response: nil) == .serverError(503))
        #expect(NetworkError.unauthorized(data: Data([1]), response: head).responseData == Data([1]))
        #expect(NetworkError.parsingError(data: Data([1]), error: URLError(.unknown)).responseData == Data([1]))
        #expect(NetworkError.unauthorized.tryDecode(Item.self) == nil && NetworkError.unauthorized.httpResponse == nil)
        #expect("\(NetworkError.missingEnvironment(domain: "shop"))".contains("\"shop\""))
    }

    @Test func `A retry policy speaks in seconds`() async throws {
        let policy = RetryPolicy(maxAttempts: 3, baseDelay: 0.5, maxDelay: 4, multiplier: 3, jitter: false)
        #expect([-1, 0, 1, 2, 3, .max].map(policy.delay(for:)) == [0.5, 0.5, 1.5, 4, 4, 4])
        #expect([0, 1, 2, 3].map(policy.shouldRetry(attempt:)) == [true, true, false, false])
        let (base, most): (TimeInterval, TimeInterval) = (policy.baseDelay, policy.maxDelay)
        #expect(base == 0.5 && most == 4 && policy.baseDelay == .milliseconds(500))
        #expect(RetryPolicy.default.delay(for: 0) <= 1)
        try await RetryPolicy(maxAttempts: 2, baseDelay: 0.0).performDelay(for: 0)
        let waiting = Task {
            try await RetryPolicy(maxAttempts: 2, baseDelay: 1e300, maxDelay: 1e300, jitter: false).performDelay(for: 0)
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `A limiter gives permits`() async throws {
        let limiter = RateLimiter(configuration: RateLimitConfiguration(requests: 0, perInterval: -1))
        try await limiter.acquirePermit()
        #expect(RateLimitConfiguration(requests: 0, perInterval: -1).requests == 1)
    }

    // MARK: Logs

    @Test func `Each level has its handler, and a level without one is not built`() throws {
        let lines = Collected<String>()
        let logger = NevodLogger(
            config: LoggerConfiguration(
                infoHandler: { lines.append("i \($0.message) \($0.payload) \($0.line > 0)") },
                errorHandler: { lines.append("e \($0.message) \($0.payload) \($0.line > 0)") }))
        #expect(!logger.isEnabled(.debug) && !logger.isEnabled(.warning) && logger.isEnabled(.notice))
        logger.debug("no")
        logger.info("one", payload: ["a": "1"])
        logger.write(.notice, "two", ["a": "1", "a": "2"])
        logger.error("three")
        #expect(lines.values == [#"i one ["a": "1"] true"#, #"i two ["a": "1, 2"] false"#, "e three [:] true"])
        let silent = NevodLogger(config: .silent)
        #expect(LogLevel.allCases.allSatisfy { !silent.isEnabled($0) })
    }

    @Test func `Hidden fields are hidden in addition to the usual ones`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let lines = Collected<String>()
        let logger = NevodLogger(config: LoggerConfiguration(infoHandler: { lines.append("\($0.message) \($0.payload)") }))
        let headers = HeadersInterceptor(headers: ["X-Cart": "open-cart", "Authorization": "Bearer s3cret", "X-Plain": "shown"])
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: InterceptorChain([headers, LoggingInterceptor(logger: logger, hideHeaderFields: ["x-cart"])]))
        #expect(try await provider.send(HTTPRequest(.get, server.url)).status == 200)
        let text = lines.values.joined()
        #expect(text.contains("shown") && !text.contains("open-cart") && !text.contains("s3cret"))
    }

    // MARK: Foundation's sessions

    /// Responds from a script, like Nevod's tests.
    private final class Scripted: URLSessionProtocol {
        let seen = Locked<[URLRequest]>([])
        let delegates = Locked<[ObjectIdentifier?]>([])
        let status: Int
        let error: URLError?

        init(status: Int = 200, error: URLError? = nil) {
            self.status = status
            self.error = error
        }

        func requestData(
            for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
        ) async throws -> (Data, URLResponse) {
            seen.withLock { $0.append(request) }
            delegates.withLock { $0.append(delegate.map { ObjectIdentifier($0) }) }
            if let error { throw error }
            guard let url = request.url,
                let head = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: nil, headerFields: ["Content-Type": "application/json"])
            else { throw URLError(.badURL) }
            return (Data(#"{"id":7}"#.utf8), head)
        }
    }

    private final class Watching: NSObject, URLSessionTaskDelegate {
        let events = Locked<[String]>([])

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            events.withLock { $0.append("sent \(totalBytesSent) of \(totalBytesExpectedToSend)") }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.withLock { $0.append("completed \(error == nil)") }
        }
    }

    private let environments: [Shop: any NetworkEnvironmentProviding] = [.api: SimpleEnvironment(baseURL: "https://h.example")]

    @Test func `A test double of Nevod's is a transport`() async throws {
        let session = Scripted()
        let watching = Watching()
        let provider = NetworkProvider(config: NetworkConfig(environments: environments), session: session, interceptor: nil)
        let route = SimplePostRoute<Item, Shop>(endpoint: "/items", domain: .api, bodyParameters: ["a": "1"])
        #expect(try await provider.perform(route, delegate: watching) == Item(id: 7))
        #expect(try await provider.request(route).get() == Item(id: 7))
        let seen = session.seen.withLock { $0 }
        #expect(seen.allSatisfy { $0.httpBody == Data(#"{"a":"1"}"#.utf8) && $0.httpMethod == "POST" })
        #expect(session.delegates.withLock { $0 } == [ObjectIdentifier(watching), nil])
    }

    @Test(
        arguments: [
            (Scripted(status: 401), NetworkError.unauthorized), (Scripted(status: 404), .clientError(404)),
            (Scripted(status: 99), .invalidResponse), (Scripted(error: URLError(.notConnectedToInternet)), .noConnection),
            (Scripted(error: URLError(.timedOut)), .timeout),
        ])
    private func `A double's failures are those of a server`(session: Scripted, error: NetworkError) async throws {
        let provider = NetworkProvider(config: NetworkConfig(environments: environments, retries: 0), session: session)
        let route = SimpleGetRoute<Item, Shop>(endpoint: "/items", domain: .api)
        await #expect(throws: error) { try await provider.perform(route) }
    }

    @Test func `A delegate is told of the bytes and the end`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"id\":7}")
        let watching = Watching()
        let provider = NetworkProvider.quick(baseURL: server.url, session: URLSession.shared)
        let route = SimplePostRoute<Item, DefaultDomain>(endpoint: "/items", domain: .default, bodyParameters: ["a": "1"])
        #expect(try await provider.perform(route, delegate: watching) == Item(id: 7))
        #expect(await eventually { watching.events.withLock { $0.last } == "completed true" })
        #expect(watching.events.withLock { $0.filter { $0.hasPrefix("sent") } }.last == "sent 9 of 9")
    }

    @Test func `A session returns a response to a URLRequest of its own`() async throws {
        let server = try RawServer.responding("HTTP/1.1 203 Fine\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok")
        let session: any URLSessionProtocol = URLSessionType.shared
        let (data, response) = try await session.requestData(for: request(server.url), delegate: nil)
        #expect(data == Data("ok".utf8) && (response as? HTTPURLResponse)?.statusCode == 203)
    }
}
