import NevodSupport
import NevodTestSupport

@testable import NevodHost

/// A wall clock that stands still until a test moves it.
final class TestClock: Sendable {
    private let seconds = Locked<Int64>(1_800_000_000)

    var clock: HostClock { HostClock { [self] in seconds.withLock { $0 } * 1_000_000_000 } }
    var now: UnixTime { clock.now }

    func advance(_ count: Int64) { seconds.withLock { $0 += count } }

    /// The time as an HTTP date.
    func date(_ offset: Int64 = 0) -> String { HTTPDate.text(UnixTime(seconds: now.seconds + offset)) }
}

/// A server's response with a length, and by default the date of the test's clock.
struct CannedResponse: Sendable {
    var status = 200
    var lines: [String] = []
    var body = ""

    func text(_ clock: TestClock) -> String {
        let date = lines.contains { $0.hasPrefix("Date:") } ? [] : ["Date: \(clock.date())"]
        let length = status == 304 ? [] : ["Content-Length: \(body.utf8.count)"]
        return (["HTTP/1.1 \(status) Canned"] + date + length + lines).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

/// A caching session over libcurl, with a real server that counts the requests that reach it.
struct CacheFixture: Sendable {
    let clock = TestClock()
    let store: CacheUnderTest
    let session: CachingSession
    let server: RawServer
    private let heads = Collected<String>()

    /// - Parameter response: gets a request's number, from 1, and its head, and returns the response. Nil breaks the connection.
    init(
        store: CacheUnderTest? = nil, timeToLive: TimeToLive? = nil,
        _ response: @escaping @Sendable (Int, String, TestClock) -> CannedResponse?
    ) throws {
        self.store = try store ?? CacheUnderTest()
        session = self.store.session(CurlSession(), timeToLive, clock.clock)
        let (heads, clock) = (heads, clock)
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                guard let canned = response(heads.values.count, request.head, clock) else { return }
                let text = canned.text(clock)
                connection.write(request.head.hasPrefix("HEAD") ? String(text.dropLast(canned.body.count)) : text)
            }
        }
    }

    /// Creates a server whose responses have these lines, and the request's number as the body.
    init(_ lines: [String], status: Int = 200, timeToLive: TimeToLive? = nil) throws {
        try self.init(timeToLive: timeToLive) { number, _, _ in
            CannedResponse(status: status, lines: lines, body: "\(number)")
        }
    }

    /// The heads of the requests that reached the server.
    var requests: [String] { heads.values }

    func request(_ method: HTTPMethod, _ path: String, _ lines: [String]) throws -> HTTPRequest {
        var request = try HTTPRequest(method, server.url + path)
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            try request.addHeader(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        return request
    }

    func send(_ method: HTTPMethod, _ path: String = "/", _ lines: [String] = []) async throws -> HTTPResponse {
        try await session.send(request(method, path, lines), TransferOptions(timeout: .seconds(30)))
    }

    /// Returns the body, or the status if the response isn't a success.
    func get(_ path: String = "/", _ lines: [String] = []) async throws -> String {
        let response = try await send(.get, path, lines)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        return text.isEmpty ? "\(response.status)" : text
    }
}
