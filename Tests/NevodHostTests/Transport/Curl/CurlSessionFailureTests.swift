import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests servers that violate the protocol, and callers that give up.
struct CurlSessionFailureTests {
    private let session = CurlSession()
    private let options = TransferOptions(timeout: .seconds(30))

    private func failure(_ request: HTTPRequest, _ options: TransferOptions? = nil) async -> TransportError? {
        do throws(TransportError) {
            let response = try await session.send(request, options ?? self.options)
            _ = try await response.body.collect()
            return nil
        } catch {
            return error
        }
    }

    private func failure(responding text: String) async throws -> TransportError? {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write(text)
        }
        return await failure(try HTTPRequest(.get, server.url))
    }

    // MARK: Servers

    @Test(arguments: [
        "garbage\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 600 High\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
    ])
    func `A malformed status line is an error`(text: String) async throws {
        #expect(try await failure(responding: text)?.code == .malformedResponse)
    }

    @Test(arguments: ["", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nX-Half"])
    func `A connection that closes during the head is an error`(text: String) async throws {
        let code = try #require(try await failure(responding: text)?.code)
        #expect([.connectionLost, .malformedResponse].contains(code))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ])
    func `A body that ends too soon is an error`(text: String) async throws {
        #expect(try await failure(responding: text)?.code == .connectionLost)
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write(text)
        }
        #expect(await failure(try HTTPRequest(.get, server.url), TransferOptions(delivery: .streamed))?.code == .connectionLost)
    }

    @Test func `A malformed chunk is an error`() async throws {
        let error = try await failure(responding: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        #expect(error?.code == .malformedResponse)
        #expect(error != nil)
    }

    @Test func `A head of 300 KiB is refused, in few lines or many`() async throws {
        let many = (0..<300).map { "X-\($0): \(String(repeating: "a", count: 1024))\r\n" }.joined()
        #expect(try await failure(responding: "HTTP/1.1 200 OK\r\n\(many)\r\n")?.code == .headTooLarge(limit: 256 << 10))
        let interim = String(repeating: "HTTP/1.1 103 Hint\r\nX: \(String(repeating: "a", count: 1024))\r\n\r\n", count: 300)
        #expect(
            try await failure(responding: "\(interim)HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?.code
                == .headTooLarge(limit: 256 << 10))
        let long = String(repeating: "a", count: 300 << 10)
        #expect(try await failure(responding: "HTTP/1.1 200 OK\r\nX: \(long)\r\n\r\n") != nil)
    }

    @Test func `A head of 200 KiB is taken`() async throws {
        let many = (0..<200).map { "X-\($0): \(String(repeating: "a", count: 1000))\r\n" }.joined()
        #expect(try await failure(responding: "HTTP/1.1 200 OK\r\n\(many)Content-Length: 0\r\n\r\n") == nil)
    }

    @Test func `A closed port is a connection error`() async throws {
        #expect(await failure(try HTTPRequest(.get, "http://127.0.0.1:\(RawServer.closedPort())/"))?.code == .connectionFailed)
        #expect(await failure(try HTTPRequest(.get, "http://name.invalid/"))?.code == .hostNotFound)
    }

    @Test func `A server that doesn't speak TLS is a TLS error`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.read(1)
            connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        #expect(await failure(try HTTPRequest(.get, "https://\(server.authority)/"))?.code == .tls)
    }

    @Test func `A missing file of authorities is a configuration error`() async throws {
        let server = try RawServer { connection, _ in _ = connection.read(1) }
        let session = CurlSession(CurlSession.Configuration(caFile: "/missing.pem"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await session.send(HTTPRequest(.get, "https://\(server.authority)/"), options)
        }
        #expect(error?.code == .tlsConfiguration)
    }

    // MARK: Time

    @Test func `A server that never responds is a timeout`() async throws {
        let server = try RawServer { connection, _ in _ = connection.waitForEnd() }
        let short = TransferOptions(timeout: .milliseconds(50))
        #expect(await failure(try HTTPRequest(.get, server.url), short)?.code == .timedOut)
    }

    @Test func `A body that never ends is a timeout`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            _ = connection.waitForEnd()
        }
        for delivery in [TransferOptions.Delivery.streamed, .collected(limit: 100)] {
            let short = TransferOptions(timeout: .milliseconds(200), delivery: delivery)
            #expect(await failure(try HTTPRequest(.get, server.url), short)?.code == .timedOut)
        }
    }

    @Test func `A timeout of a nanosecond expires`() async throws {
        let server = try RawServer { connection, _ in _ = connection.waitForEnd() }
        #expect(await failure(try HTTPRequest(.get, server.url), TransferOptions(timeout: .nanoseconds(1)))?.code == .timedOut)
    }

    @Test func `A limit beyond libcurl's range doesn't end the program`() async throws {
        let server = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        for limit in [Duration.seconds(-1), .seconds(60 * 60 * 24 * 365)] {
            _ = await failure(try HTTPRequest(.get, server.url), TransferOptions(timeout: limit, connectTimeout: limit))
        }
        let url = server.url
        await #expect(processExitsWith: .success) { [url = url as String] in
            _ = try? await CurlSession().send(HTTPRequest(.get, url), TransferOptions(timeout: .seconds(Int64.max)))
        }
    }

    @Test func `A target beyond libcurl's range doesn't end the program`() async {
        await #expect(processExitsWith: .success) {
            let request = try HTTPRequest(.get, "http://127.0.0.1:1/\(String(repeating: "a", count: 8_000_001))")
            _ = try? await CurlSession().send(request, TransferOptions())
        }
    }

    @Test func `A HEAD request with a body is refused`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        let error = await failure(
            try HTTPRequest(.head, server.url, body: .bytes([1])), TransferOptions(timeout: .milliseconds(500)))
        #expect(error?.code == .requestBody)
    }

    // MARK: Cancellation

    @Test func `Cancelling one of two requests leaves the other`() async throws {
        let arrived = [Latch(), Latch()]
        let release = Latch()
        let noticed = Latch()
        let server = try RawServer { connection, _ in
            guard let request = connection.readRequest() else { return }
            let isFirst = request.head.hasPrefix("GET /first ")
            arrived[isFirst ? 0 : 1].set()
            if isFirst {
                if connection.waitForEnd() { noticed.set() }
            } else {
                release.waitOnThread()
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        // There is no timeout: only the cancellation can end the first request.
        let unlimited = TransferOptions(timeout: nil)
        let first = Task { await failure(try HTTPRequest(.get, "\(server.url)/first"), unlimited) }
        let second = Task { await failure(try HTTPRequest(.get, "\(server.url)/second"), unlimited) }
        for latch in arrived { await latch.wait() }
        first.cancel()
        #expect(try await first.value?.code == .cancelled)
        await noticed.wait()
        release.set()
        #expect(try await second.value == nil)
    }

    @Test func `A task that is cancelled already sends nothing`() async throws {
        let connections = Collected<Int>()
        let server = try RawServer { _, index in connections.append(index) }
        let start = Latch()
        let task = Task {
            await start.wait()
            return await failure(try HTTPRequest(.get, server.url))
        }
        task.cancel()
        start.set()
        #expect(try await task.value?.code == .cancelled)
        #expect(connections.values.isEmpty)
    }

    @Test func `A cancelled upload ends the transfer`() async throws {
        let arrived = Latch()
        let noticed = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readHead()
            arrived.set()
            if connection.waitForEnd() { noticed.set() }
        }
        let body = HTTPBodyStream(length: nil, isReplayable: false) { EndlessReader() }
        let task = Task { await failure(try HTTPRequest(.post, server.url, body: .stream(body)), TransferOptions(timeout: nil)) }
        await arrived.wait()
        task.cancel()
        #expect(try await task.value?.code == .cancelled)
        await noticed.wait()
    }

    @Test func `A request cancelled while its response arrives gives either result`() async throws {
        let server = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        for index in 0..<200 {
            let task = Task { await failure(try HTTPRequest(.get, server.url)) }
            for _ in 0..<index { await Task.yield() }
            task.cancel()
            let code = try await task.value?.code
            #expect(code == nil || code == .cancelled)
        }
        #expect(await failure(try HTTPRequest(.get, server.url)) == nil)
    }
}

private final class EndlessReader: HTTPBodyReader {
    func read(upTo count: Int) async throws -> [UInt8] { [UInt8](repeating: 1, count: count) }
}
