import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct URLSessionTests {
    private let session = URLSession(configuration: .default)
    private let options = TransferOptions(timeout: .seconds(30))

    private func failure(_ request: HTTPRequest, _ options: TransferOptions? = nil) async -> TransportError? {
        do throws(TransportError) {
            _ = try await session.send(request, options ?? self.options).body.collect()
            return nil
        } catch {
            return error
        }
    }

    /// Whether Foundation has given up the transfer. (A server can't tell: processes that other tests start inherit Foundation's
    /// sockets and keep them open.)
    private func hasEnded() async -> Bool { await eventually { DerivedSession.of(session).isIdle } }

    // MARK: Responses

    @Test func `A response has its status, headers and body`() async throws {
        let server = try RawServer.responding("HTTP/1.1 203 Fine\r\nx-b: 2\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok")
        let response = try await session.send(HTTPRequest(.get, server.url), options)
        #expect(response.status == 203)
        #expect(response.headers.map(\.name) == ["Content-Length", "X-A", "x-b"])
        #expect(response.headers["x-a"] == "1")
        #expect(response.headers.allSatisfy { $0.provenance == .host })
        #expect(try await response.body.collect() == Array("ok".utf8))
    }

    @Test(arguments: [301, 302, 303, 307, 308], [true, false])
    func `A redirect is returned, not followed`(status: Int, shared: Bool) async throws {
        let seen = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request.head)
                connection.write("HTTP/1.1 \(status) Moved\r\nLocation: /elsewhere\r\nContent-Length: 2\r\n\r\nno")
            }
        }
        let response = try await (shared ? URLSession.shared : session).send(HTTPRequest(.get, server.url), options)
        #expect(response.status == status)
        #expect(response.headers["Location"] == "/elsewhere")
        #expect(try await response.body.collect() == Array("no".utf8))
        #expect(seen.values.count == 1)
    }

    @Test(arguments: [TransferOptions.Delivery.collected(limit: 10), .streamed])
    func `A redirect without a Location still has its head`(delivery: TransferOptions.Delivery) async throws {
        let server = try RawServer.responding("HTTP/1.1 302 Found\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nno")
        let options = TransferOptions(timeout: .seconds(30), delivery: delivery)
        let response = try await session.send(HTTPRequest(.get, server.url), options)
        #expect(response.status == 302)
        #expect(response.headers["X-A"] == "1")
        #expect(try await response.body.collect() == [])
    }

    @Test(
        arguments: ["WWW-Authenticate: Basic realm=\"x\"\r\n", "WWW-Authenticate: Bearer\r\n", ""],
        [TransferOptions.Delivery.collected(limit: 10), .streamed])
    func `A 401 is returned to the host, not handled by URLSession`(line: String, delivery: TransferOptions.Delivery)
        async throws
    {
        let server = try RawServer.responding("HTTP/1.1 401 No\r\n\(line)Content-Length: 2\r\n\r\nno")
        let options = TransferOptions(timeout: .seconds(30), delivery: delivery)
        let response = try await session.send(HTTPRequest(.get, server.url), options)
        #expect(response.status == 401)
        #expect(response.headers.contains("WWW-Authenticate") == !line.isEmpty)
        #expect(try await response.body.collect() == Array("no".utf8))
    }

    @Test func `A status outside HTTP's range is an error`() async throws {
        let server = try RawServer.responding("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n")
        #expect(await failure(try HTTPRequest(.get, server.url))?.code == .malformedResponse)
    }

    @Test func `A provider follows, over URLSession too`() async throws {
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                connection.write(
                    request.head.hasPrefix("GET /there ")
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere"
                        : "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let response = try await NetworkProvider(session: session).send(
            HTTPRequest(.get, "\(server.url)/here"), RequestOptions(timeout: .seconds(30)))
        #expect(try await response.body.collect() == Array("there".utf8))
    }

    // MARK: Requests

    /// The request that a server reads.
    private func received(
        _ method: HTTPMethod = .get, _ target: String = "/", body: HTTPBody = .none, lines: [(String, String)] = []
    ) async throws -> RawConnection.Request {
        let requests = Collected<RawConnection.Request>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                requests.append(request)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var request = try HTTPRequest(method, server.url + target, body: body)
        for (name, value) in lines { try request.addHeader(name, value) }
        _ = try await session.send(request, options)
        return try #require(requests.values.first)
    }

    @Test func `The headers that prepare writes are those that are sent`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "1", "User-Agent": "mine"]
        let session = URLSession(configuration: configuration)
        for (method, body) in [
            (HTTPMethod.get, HTTPBody.none), (.head, .none), (.post, .none), (.post, .bytes([65, 66])), (.put, .bytes([67])),
        ] {
            var request = try HTTPRequest(method, "\(server.url)/p?q=1", body: body)
            try request.setHeader("x-Lower-case", "v")
            try request.setHeader("X-Empty", "")
            session.prepare(&request)
            _ = try await session.send(request, options)
            func sorted(_ lines: some Sequence<some StringProtocol>) -> [String] {
                lines.map { String($0.filter { $0 != " " }) }.sorted()
            }
            let wire = try #require(heads.values.last).split(separator: "\r\n").dropFirst()
            #expect(sorted(wire) == sorted(request.headers.map { "\($0.name): \($0.value)" }), "\(method)")
            #expect(request.headers["User-Agent"] == "mine")
        }
    }

    @Test(arguments: ["/a%2Fb//c?x=1&&y=%20+", "/?", "/a;b=c/~!$'()*,:@?/?"])
    func `A target is sent byte for byte`(target: String) async throws {
        #expect(try await received(.get, target).head.hasPrefix("GET \(target) HTTP/1.1\r\n"))
    }

    @Test func `Only bytes that Foundation can't represent are percent-encoded`() async throws {
        let head = try await received(.get, "/%2F%?q[]=%zz&r=%41").head
        #expect(head.hasPrefix("GET /%2F%25?q%5B%5D=%25zz&r=%41 HTTP/1.1\r\n"))
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func `A body is sent with its length`(method: HTTPMethod) async throws {
        #expect(try await received(method, body: .bytes(Array("content".utf8))).body == Array("content".utf8))
    }

    @Test(arguments: [7, nil])
    func `A stream is sent whole`(length: Int64?) async throws {
        let stream = HTTPBodyStream.of([Array("con".utf8), Array("tent".utf8)], length: length)
        #expect(try await received(.post, body: .stream(stream)).body == Array("content".utf8))
    }

    @Test(arguments: [6, 8, 1 << 40])
    func `A stream whose length is wrong, or exceeds memory, is an error`(length: Int64) async throws {
        let stream = HTTPBodyStream.of([Array("content".utf8)], length: length)
        let error = await failure(try HTTPRequest(.post, "http://127.0.0.1:1/", body: .stream(stream)))
        #expect(error?.code == .requestBody)
    }

    @Test func `A body with GET is refused, not dropped`() async throws {
        #expect(await failure(try HTTPRequest(.get, "http://127.0.0.1:1/", body: .bytes([1])))?.code == .requestBody)
    }

    @Test func `Header lines of one name are merged`() async throws {
        let head = try await received(lines: [("X-A", "1"), ("x-a", "2"), ("Cookie", "a=1"), ("Cookie", "b=2")]).head
        let lines = head.split(separator: "\r\n")
        #expect(lines.contains("X-A: 1, 2"))
        #expect(lines.contains("Cookie: a=1; b=2"))
    }

    @Test(arguments: [true, false])
    func `No cookie and no response is kept between requests`(shared: Bool) async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: a=secret\r\nCache-Control: max-age=1000\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = shared ? URLSession.shared : session
        for _ in 0..<2 {
            let response = try await session.send(HTTPRequest(.get, server.url), options)
            #expect(response.headers["Set-Cookie"] == "a=secret")
        }
        #expect(heads.values.count == 2)
        #expect(!heads.values.contains { $0.lowercased().contains("cookie") })
        #expect(session.configuration.httpCookieStorage?.cookies?.contains { $0.value == "secret" } != true)
    }

    @Test func `Concurrent requests each get their own response`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let (session, options, request) = (session, options, try HTTPRequest(.get, server.url))
        let count = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await session.send(request, options).body.collect() == Array("ok".utf8) } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 50)
    }

    // MARK: Failures

    @Test func `A closed port is a connection error`() async throws {
        let error = await failure(try HTTPRequest(.get, "http://127.0.0.1:\(RawServer.closedPort())/"))
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.isEmpty == false)
        #expect(await failure(try HTTPRequest(.get, "http://name.invalid/"))?.code == .hostNotFound)
    }

    @Test func `A server that doesn't speak TLS is a TLS error`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.read(1)
            connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        let error = await failure(try HTTPRequest(.get, "https://\(server.authority)/"))
        #expect(error?.code == .tls, "\(String(describing: error))")
    }

    @Test func `A response that isn't HTTP is an error`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("SSH-2.0-OpenSSH\r\n\r\n")
        }
        #expect(await failure(try HTTPRequest(.get, server.url))?.code == .malformedResponse)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func `A response that breaks off is a lost connection`(text: String) async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write(text)
        }
        for delivery in [TransferOptions.Delivery.collected(limit: 100), .streamed] {
            let options = TransferOptions(timeout: .seconds(30), delivery: delivery)
            #expect(await failure(try HTTPRequest(.get, server.url), options)?.code == .connectionLost)
        }
    }

    @Test func `A server that doesn't respond in time is a timeout`() async throws {
        let server = try RawServer { connection, _ in _ = connection.waitForEnd() }
        let error = await failure(try HTTPRequest(.get, server.url), TransferOptions(timeout: .milliseconds(50)))
        #expect(error?.code == .timedOut)
    }

    @Test func `A body that doesn't arrive in time is a timeout`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            _ = connection.waitForEnd()
        }
        let options = TransferOptions(timeout: .milliseconds(500), delivery: .streamed)
        #expect(await failure(try HTTPRequest(.get, server.url), options)?.code == .timedOut)
    }

    @Test func `A task that is cancelled ends the transfer`() async throws {
        let arrived = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            arrived.set()
            _ = connection.waitForEnd()
        }
        let request = try HTTPRequest(.get, server.url)
        let task = Task { await failure(request, TransferOptions(timeout: nil)) }
        await arrived.wait()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(await hasEnded())
    }

    @Test func `A task that was cancelled before sends nothing`() async throws {
        let connections = Collected<Void>()
        let server = try RawServer { _, _ in connections.append(()) }
        let request = try HTTPRequest(.get, server.url)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(request)
        }
        #expect(await task.value?.code == .cancelled)
        #expect(connections.values.isEmpty)
    }

    @Test func `A body over the limit is an error`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345")
        let request = try HTTPRequest(.get, server.url)
        #expect(await failure(request, TransferOptions(delivery: .collected(limit: 4)))?.code == .bodyTooLarge(limit: 4))
        #expect(await failure(request, TransferOptions(delivery: .collected(limit: 5))) == nil)
    }

    @Test func `Metrics come once`() async throws {
        let metrics = Collected<TransferMetrics>()
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        var options = options
        options.onMetrics = { metrics.append($0) }
        _ = try await session.send(HTTPRequest(.post, server.url, body: .bytes([1, 2, 3])), options)
        #expect(metrics.values.map(\.uploaded) == [3])
        #expect(metrics.values.map(\.downloaded) == [2])
        #expect(metrics.values.allSatisfy { 0 < $0.firstByte && $0.firstByte <= $0.total })
    }

    // MARK: Streams

    private let streamed = TransferOptions(timeout: .seconds(60), delivery: .streamed)

    private func stream(_ response: HTTPResponse) throws -> HTTPResponseStream {
        guard case .stream(let stream) = response.body else { throw Command.Failure(description: "not a stream") }
        return stream
    }

    @Test func `A stream's head comes before its body`() async throws {
        let release = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            release.waitOnThread()
            connection.write("ok")
        }
        let response = try await session.send(HTTPRequest(.get, server.url), streamed)
        #expect(response.status == 200)
        release.set()
        #expect(try await response.body.collect() == Array("ok".utf8))
        #expect(try await stream(response).next() == nil)
    }

    @Test func `A long stream arrives whole`() async throws {
        let block = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(block.count * 64)\r\n\r\n")
            for _ in 0..<64 { connection.write(block) }
        }
        let bytes = try await session.send(HTTPRequest(.get, server.url), streamed).body.collect()
        // As Data, because a debug build compares arrays byte by byte.
        #expect(Data(bytes) == repeatElement(Data(block), count: 64).reduce(into: Data()) { $0.append($1) })
    }

    @Test func `A reader that falls too far behind gets an error`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            let block = [UInt8](repeating: 1, count: 1 << 20)
            // Ends the body, because Foundation doesn't cancel while data keeps arriving.
            for _ in 0..<96 where !connection.write(block) { break }
            _ = connection.waitForEnd()
        }
        let response = try await session.send(HTTPRequest(.get, server.url), streamed)
        #expect(await hasEnded())
        let stream = try stream(response)
        let error = await #expect(throws: TransportError.self) { while try await stream.next() != nil {} }
        #expect(error?.code == .other)
        #expect(error?.message.contains("64 MiB") == true)
    }

    @Test func `Dropping a stream ends the transfer`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            _ = connection.waitForEnd()
        }
        do {
            let response = try await session.send(
                HTTPRequest(.get, server.url), TransferOptions(timeout: nil, delivery: .streamed))
            #expect(try await stream(response).next() == Array("half".utf8))
        }
        #expect(await hasEnded())
    }

    @Test func `A reader that is cancelled ends the transfer`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            _ = connection.waitForEnd()
        }
        let response = try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: nil, delivery: .streamed))
        let stream = try stream(response)
        let task = Task { try await stream.next() }
        task.cancel()
        let error = await #expect(throws: TransportError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await hasEnded())
    }
}
