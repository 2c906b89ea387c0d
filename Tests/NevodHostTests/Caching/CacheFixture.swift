import NevodSupport
import NevodTestSupport

@testable import NevodHost

/// A wall clock that stands still until a test moves it.
final class TestClock: Sendable {
    private let seconds = Locked<Int64>(1_800_000_000)

    var clock: HostClock { HostClock { [self] in seconds.withLock { $0 } * 1_000_000_000 } }
    var now: UnixTime { clock.now }

    func advance(_ count: Int64) { seconds.withLock { $0 += count } }

    /// As HTTP writes it.
    func date(_ offset: Int64 = 0) -> String { HTTPDate.text(UnixTime(seconds: now.seconds + offset)) }
}

/// A server's response: with the date of the test's clock, unless it has its own, and a length.
struct Canned: Sendable {
    var status = 200
    var lines: [String] = []
    var body = ""

    func text(_ clock: TestClock) -> String {
        let date = lines.contains { $0.hasPrefix("Date:") } ? [] : ["Date: \(clock.date())"]
        let length = status == 304 ? [] : ["Content-Length: \(body.utf8.count)"]
        return (["HTTP/1.1 \(status) Canned"] + date + length + lines).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

/// A caching session over libcurl, before a real server that counts what reaches it.
struct CacheFixture: Sendable {
    let clock = TestClock()
    let store: InMemoryCache
    let session: CachingSession
    let server: RawServer
    private let heads = Collected<String>()

    /// - Parameter answer: to the request of that number, from 1, with that head; nil: the connection breaks.
    init(store: InMemoryCache = InMemoryCache(), _ answer: @escaping @Sendable (Int, String, TestClock) -> Canned?) throws {
        self.store = store
        session = CachingSession(CurlSession(), store: store, clock: clock.clock)
        let (heads, clock) = (heads, clock)
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                guard let canned = answer(heads.values.count, request.head, clock) else { return }
                let text = canned.text(clock)
                connection.write(request.head.hasPrefix("HEAD") ? String(text.dropLast(canned.body.count)) : text)
            }
        }
    }

    /// Every answer has these lines, and the number of its request as its body.
    init(_ lines: [String], status: Int = 200) throws {
        try self.init { number, _, _ in Canned(status: status, lines: lines, body: "\(number)") }
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

    /// The body, or the status of an answer that isn't one of success.
    func get(_ path: String = "/", _ lines: [String] = []) async throws -> String {
        let response = try await send(.get, path, lines)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        return text.isEmpty ? "\(response.status)" : text
    }
}
