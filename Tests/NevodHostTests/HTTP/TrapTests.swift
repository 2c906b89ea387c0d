import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Values from settings, files and servers that once ended the process.
struct TrapTests {
    @Test func `A limit of no requests is a limit of one`() async throws {
        for requests in [0, -1, Int.min] {
            let limit = RateLimitConfiguration(requests: requests, per: .seconds(-1))
            #expect(limit == RateLimitConfiguration(requests: 1, per: .zero))
            try await RateLimiter(limit).acquire()
        }
        #expect(RateLimitConfiguration(requests: 3, interval: -.infinity).interval == .zero)
        #expect(RateLimitConfiguration(requests: 0, per: .seconds(1), burst: .min).burst == 1)
    }

    @Test func `A limit's interval is at most 30 years, and NaN none`() async throws {
        let longest = RateLimitConfiguration(requests: 1, per: .seconds(1_000_000_000))
        for limit in [
            RateLimitConfiguration(requests: 1, per: .seconds(Int64.max)),
            RateLimitConfiguration(requests: 0, interval: .infinity),
            RateLimitConfiguration(requests: 1, interval: .greatestFiniteMagnitude),
        ] {
            #expect(limit == longest && limit.window == .seconds(1_000_000_000))
        }
        let none = RateLimitConfiguration(requests: .max, interval: .nan, burst: .max)
        #expect(none.interval == .zero && none.window == .zero)
        let limiter = RateLimiter(longest)
        try await limiter.acquire()
        // The next one waits, and can be cancelled.
        let waiting = Task { try await limiter.acquire() }
        #expect(await eventually { limiter.waiting == 1 })
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `A negative length is unknown`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let body = HTTPBodyStream(length: -1, isReplayable: true) { try FileReader(path: "/dev/null") }
        #expect(body.length == nil)
        let request = try HTTPRequest(
            .put, server.url, body: .stream(HTTPBodyStream(length: .min, isReplayable: true, open: body.open)))
        #expect(try await CurlSession().send(request, TransferOptions(timeout: .seconds(30))).status == 200)
        // It has no time left and ends at once, unless the server is as fast.
        let late = TransferOptions(timeout: .seconds(Int64.min), connectTimeout: .seconds(Int64.min))
        do throws(TransportError) { _ = try await CurlSession().send(request, late) } catch { #expect(error.code == .timedOut) }
    }

    @Test func `Readers read nothing if asked for less than nothing`() async throws {
        var form = MultipartForm()
        try form.add("a", .bytes([1, 2, 3]))
        guard case .stream(let stream) = form.body else { return }
        let readers: [any HTTPBodyReader] = [try stream.makeReader(), try FileReader(path: "/proc/self/stat")]
        for reader in readers {
            for count in [-1, 0, Int.min] { #expect(try await reader.read(upTo: count).isEmpty) }
            #expect(try await reader.read(upTo: 5).count == 5)
        }
    }

    @Test func `Parts whose lengths have no sum are sent in chunks`() throws {
        var form = MultipartForm()
        for name in ["a", "b"] {
            try form.add(name, .stream(HTTPBodyStream(length: .max, isReplayable: true) { try FileReader(path: "/dev/null") }))
        }
        #expect(form.body.length == nil)
    }

    @Test func `A list whose offset has no next value ends with an error`() throws {
        var state = PaginationState(.offset(pageSize: .max), mostPages: 10)
        for page in 1...2 {
            #expect(try state.next() != nil)
            state.receive(PaginationState.Page(hasMore: true))
            if page == 2 { #expect(throws: PaginationError.self) { try state.next() } }
        }
    }

    @Test func `The earliest and the latest time have a text`() {
        #expect(UnixTime(nanoseconds: .min).rfc3339 == "1677-09-21T00:12:43.145Z")
        #expect(UnixTime(nanoseconds: .max).rfc3339 == "2262-04-11T23:47:16.854Z")
        for time in [UnixTime(nanoseconds: .min), UnixTime(nanoseconds: .max)] {
            #expect(!HTTPDate.text(time).isEmpty)
            _ = time + .seconds(Int64.max) - .seconds(Int64.min)
            _ = time - time
        }
    }

    @Test(arguments: [
        "Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "Sun Nov 6 08:49:37 9223372036854775807",
        "Sun Nov 6 08:49:37 -9223372036854775808", "Sunday, 06-Nov-+9 08:49:37 GMT",
        "Sun, 9223372036854775807 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 9223372036854775807:9223372036854775807:9223372036854775807 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT",
    ])
    func `A date has a time or none`(text: String) {
        if let time = HTTPDate.parse(text) { #expect(time - UnixTime(nanoseconds: 0) > .zero) }
        _ = CookieDate.unixSeconds(text)
    }

    @Test(arguments: ["method", "certificates", "pin", "proxy"])
    func `A setting that libcurl refuses is an error that names it`(setting: String) async throws {
        let long = String(repeating: "a", count: 8_000_001)
        var configuration = CurlSession.Configuration()
        var method = HTTPMethod.get
        switch setting {
        case "method": method = try HTTPMethod(validating: long)
        case "certificates": configuration.caFile = long
        case "pin": configuration.pinnedPublicKey = long
        default: configuration.proxy = ProxySettings(url: long)
        }
        let session = CurlSession(configuration)
        for _ in 0..<2 {
            let error = await #expect(throws: TransportError.self) {
                try await session.send(HTTPRequest(method, "http://127.0.0.1:9/"), TransferOptions(timeout: .seconds(30)))
            }
            #expect(error?.message.hasPrefix("libcurl refuses the ") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `A body is logged up to any limit`() async throws {
        let logger = CollectingLogger()
        let interceptor = LoggingInterceptor(logger: logger, logLevel: .verbose, bodyLimit: .max)
        let request = try HTTPRequest(.put, "http://h/", body: .bytes(Array("text".utf8)))
        _ = try await NetworkProvider(session: TestTransport(), interceptor: interceptor).send(request)
        #expect(logger.entries.first?.metadata["request.body"] == "text")
    }
}
