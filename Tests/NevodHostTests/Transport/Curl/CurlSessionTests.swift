import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests valid requests and responses.
struct CurlSessionTests {
    private let session = CurlSession()
    private let options = TransferOptions(timeout: .seconds(30))

    private func response(_ text: String, to method: HTTPMethod = .get) async throws -> HTTPResponse {
        let server = try RawServer.responding(text)
        return try await session.send(HTTPRequest(method, "\(server.url)/"), options)
    }

    private func text(_ response: HTTPResponse) async throws -> String {
        String(decoding: try await response.body.collect(), as: UTF8.self)
    }

    private func lines(_ response: HTTPResponse) -> [String] {
        response.headers.map { "\($0.name): \($0.value)" }
    }

    // MARK: Requests

    @Test func `The request's lines are sent, and no others`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append("\(request.head)\(String(decoding: request.body, as: UTF8.self))")
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        var request = try HTTPRequest(.post, "\(server.url)/a%2Fb//../c?x=1&&y=[ä]#z", body: .bytes(Array("body".utf8)))
        try request.addHeader("b", "1")
        try request.addHeader("A", "ä\tx")
        try request.addHeader("B", "2")
        try request.addHeader("X-Empty", "")
        _ = try await session.send(request, options)
        _ = try await session.send(HTTPRequest(.get, server.url), options)
        _ = try await session.send(HTTPRequest(.put, server.url), options)
        _ = try await session.send(HTTPRequest(.delete, "\(server.url)?", body: .bytes([97])), options)
        let host = "Host: \(server.authority)\r\n"
        #expect(
            heads.values == [
                "POST /a%2Fb//../c?x=1&&y=[%C3%A4] HTTP/1.1\r\n\(host)Content-Length: 4\r\nb: 1\r\nA: ä\tx\r\nB: 2\r\nX-Empty:\r\n\r\nbody",
                "GET / HTTP/1.1\r\n\(host)\r\n",
                "PUT / HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n",
                "DELETE /? HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\na",
            ])
    }

    @Test func `A host gets no more connections than its limit`() async throws {
        let connections = Collected<Int>()
        let server = try RawServer { connection, index in
            connections.append(index)
            while connection.readRequest() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
        }
        let limited = CurlSession(CurlSession.Configuration(maxConnectionsPerHost: 2))
        let (url, options) = (server.url, options)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { try await limited.send(HTTPRequest(.get, url), options).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 204, count: 16))
        #expect((1...2).contains(connections.values.count))
    }

    /// The signed request must be sent unchanged: a line that libcurl leaves out or adds breaks a signature.
    @Test func `A value of spaces is sent, or refused, but not left out`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        var request = try HTTPRequest(.get, server.url)
        try request.addHeader("X-Spaces", "  ")
        _ = try await session.send(request, options)
        #expect(heads.values.first?.contains("\r\nX-Spaces:") == true)
    }

    @Test func `A stream of length zero is sent like no body`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        let empty = HTTPBody.stream(.of([], length: 0))
        _ = try await session.send(HTTPRequest(.get, server.url, body: empty), options)
        #expect(heads.values == ["GET / HTTP/1.1\r\nHost: \(server.authority)\r\n\r\n"])
    }

    @Test func `A signature passes the verifying server`() async throws {
        let server = try DemoServer.shared.get()
        let instance = try TestPlugin.hmac.get().scheme().makeInstance(settings: [
            "api-key": "demo", "secret": .text(DemoServer.secret),
        ])
        for (method, path, body) in [
            (HTTPMethod.get, "/orders?x=1", HTTPBody.none), (.post, "//a%2Fb/ä", .bytes([1, 2, 3])), (.put, "/x", .bytes([])),
        ] {
            var request = try HTTPRequest(method, "\(server.url)\(path)", body: body)
            try instance.authorize(&request, attempt: 1)
            let response = try await session.send(request, options)
            #expect(response.status == 200)
            #expect(try await text(response).contains("\"verified\": true"))
        }
    }

    // MARK: Connections

    @Test func `A connection is kept for the next request`() async throws {
        let server = try DemoServer()
        for path in ["/one", "/two", "/three"] {
            _ = try await session.send(HTTPRequest(.get, "\(server.url)\(path)"), options)
        }
        let log = try server.log()
        #expect(log.map(\.target) == ["/one", "/two", "/three"])
        #expect(Set(log.map(\.clientPort)).count == 1)
    }

    @Test func `Sixty-four concurrent requests each get their own response`() async throws {
        let server = try DemoServer.shared.get()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let body = Array("body \(index)".utf8) + [UInt8](repeating: UInt8(index), count: index * 1000)
                    let response = try await session.send(HTTPRequest(.post, "\(server.url)/echo", body: .bytes(body)), options)
                    return try await response.body.collect() == body
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test(arguments: [100, 100_000])
    func `A kept connection that dies under a request is replaced, and the body sent from its start`(size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let bodies = Collected<[UInt8]>()
        let server = try RawServer { connection, index in
            guard let first = connection.readRequest() else { return }
            if index > 0 { bodies.append(first.body) }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            // The second request arrives and gets no response.
            if index == 0 { _ = connection.readRequest() }
        }
        _ = try await session.send(HTTPRequest(.get, server.url), options)
        let response = try await session.send(HTTPRequest(.post, server.url, body: .bytes(body)), options)
        #expect(response.status == 200)
        #expect(bodies.values == [body])
    }

    @Test func `A request that is sent once is not repeated when its connection closes`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, index in
            while let request = connection.readRequest() {
                heads.append("\(index) \(request.head.prefix { $0 != " " })")
                guard request.head.hasPrefix("GET") else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        var once = options
        once.sendsOnce = true
        let get = try HTTPRequest(.get, server.url)
        let post = try HTTPRequest(.post, server.url, body: .bytes([1, 2, 3]))
        _ = try await session.send(get, options)
        let error = await #expect(throws: TransportError.self) { _ = try await session.send(post, once) }
        #expect(error?.code == .connectionLost)
        // The kept connection stays for repeatable requests.
        _ = try await session.send(get, options)
        #expect(heads.values == ["0 GET", "1 POST", "0 GET"])
    }

    @Test func `A stream is sent again on a new connection, if it can be read again`() async throws {
        for isReplayable in [true, false] {
            let session = CurlSession()
            let pieces = (0..<10).map { [UInt8](repeating: UInt8($0), count: 10_000) }
            let bodies = Collected<[UInt8]>()
            let server = try RawServer { connection, index in
                guard let first = connection.readRequest() else { return }
                if index > 0 { bodies.append(first.body) }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if index == 0 { _ = connection.readRequest() }
            }
            _ = try await session.send(HTTPRequest(.get, server.url), options)
            let request = try HTTPRequest(
                .post, server.url, body: .stream(.of(pieces, length: 100_000, isReplayable: isReplayable)))
            do {
                let response = try await session.send(request, options)
                #expect(isReplayable)
                #expect(response.status == 200)
                #expect(bodies.values == [pieces.flatMap { $0 }])
            } catch {
                #expect(!isReplayable)
                #expect(error.code == .requestBody)
                #expect(bodies.values.isEmpty)
            }
        }
    }

    /// The connection is reset after a part of the body was sent. libcurl decides whether to start again.
    @Test func `A kept connection that is reset in the middle of a body is replaced, or the request fails`() async throws {
        let body = [UInt8](repeating: 7, count: 10 << 20)
        let bodies = Collected<[UInt8]>()
        let server = try RawServer { connection, index in
            guard let first = connection.readRequest() else { return }
            if index > 0 { bodies.append(first.body) }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            if index == 0 {
                _ = connection.readHead()
                connection.reset()
            }
        }
        _ = try await session.send(HTTPRequest(.get, server.url), options)
        let request = try HTTPRequest(.post, server.url, body: .bytes(body))
        do {
            _ = try await session.send(request, options)
            #expect(bodies.values == [body])
        } catch {
            #expect(error.code == .connectionLost)
            #expect(bodies.values.isEmpty)
        }
    }

    // MARK: Responses

    @Test func `Status, reason, version and lines as received`() async throws {
        let response = try await response(
            "HTTP/1.1 299 Quite Fine\r\nSet-Cookie: a=1\r\nx-CASE:  spaced out \t\r\nSet-Cookie: b=2\r\nEmpty:\r\nContent-Length: 2\r\n\r\nok"
        )
        #expect(response.status == 299)
        #expect(response.reason == "Quite Fine")
        #expect(response.version == .http11)
        #expect(lines(response) == ["Set-Cookie: a=1", "x-CASE: spaced out", "Set-Cookie: b=2", "Empty: ", "Content-Length: 2"])
        #expect(response.headers.values(of: "set-cookie") == ["a=1", "b=2"])
        #expect(try await text(response) == "ok")
    }

    @Test func `An HTTP/1.0 body ends with the connection`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.0 200 OK\r\n\r\nuntil the end")
        }
        let response = try await session.send(HTTPRequest(.get, server.url), options)
        #expect(response.version == .http10)
        #expect(try await text(response) == "until the end")
    }

    @Test func `A status line may lack a reason`() async throws {
        #expect(try await response("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").reason == "")
        #expect(try await response("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n").reason == "")
    }

    @Test func `A folded header line is one line`() async throws {
        let response = try await response(
            "HTTP/1.1 200 OK\r\nX-Fold: one\r\n  two\r\n\tthree\r\nX: y\r\nContent-Length: 0\r\n\r\n")
        #expect(lines(response) == ["X-Fold: one two three", "X: y", "Content-Length: 0"])
    }

    @Test func `A carriage return within a line is a space`() async throws {
        let response = try await response("HTTP/1.1 200 O\rK\r\nX-A: b\rSet-Cookie: c=d\r\nX: y\r\nContent-Length: 0\r\n\r\n")
        #expect(lines(response) == ["X-A: b Set-Cookie: c=d", "X: y", "Content-Length: 0"])
        #expect(response.reason == "O K")
    }

    @Test func `A header line that begins like a status line changes no status`() async throws {
        let response = try await response("HTTP/1.1 200 OK\r\nX: y\r\nHTTP/1.1 404 No: z\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 200)
        #expect(lines(response) == ["X: y", "HTTP/1.1 404 No: z", "Content-Length: 0"])
    }

    @Test func `Interim responses are skipped`() async throws {
        let response = try await response(
            "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nok"
        )
        #expect(response.status == 200)
        #expect(lines(response) == ["X: y", "Content-Length: 2"])
        #expect(try await text(response) == "ok")
    }

    @Test func `Trailers are not added to the headers`() async throws {
        let response = try await response(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n")
        #expect(lines(response) == ["Transfer-Encoding: chunked"])
        #expect(try await text(response) == "ok")
    }

    @Test(arguments: [
        (HTTPMethod.head, "200 OK", "Content-Length: 5\r\n"), (.get, "204 No Content", ""),
        (.get, "304 Not Modified", "Content-Length: 5\r\n"),
        (.get, "200 OK", "Content-Length: 0\r\n"),
    ])
    func `Responses without a body end with their head, and the connection is reused`(
        method: HTTPMethod, status: String, line: String
    ) async throws {
        let connections = Collected<Int>()
        let server = try RawServer { connection, index in
            connections.append(index)
            while connection.readRequest() != nil { connection.write("HTTP/1.1 \(status)\r\n\(line)\r\n") }
        }
        for _ in 0..<2 {
            let response = try await session.send(HTTPRequest(method, server.url), options)
            #expect("\(response.status) \(response.reason)" == status)
            #expect(try await text(response) == "")
        }
        #expect(connections.values == [0])
    }

    @Test(arguments: [301, 302, 307, 308])
    func `A redirect is returned as a response`(status: Int) async throws {
        let response = try await response(
            "HTTP/1.1 \(status) Moved\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == status)
        #expect(response.headers["Location"] == "http://127.0.0.1:1/elsewhere")
    }

    /// The environment belongs to the whole process, so this test runs in another one.
    @Test func `A proxy from the environment is used only if the session is configured so`() async throws {
        let server = try DemoServer.shared.get()
        let url = server.url
        await #expect(processExitsWith: .success) { [url = url as String] in
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
            let request = try HTTPRequest(.get, "\(url)/status/200")
            let direct = CurlSession(CurlSession.Configuration(proxy: .none))
            #expect(try await direct.send(request, TransferOptions()).status == 200)
            let error = await #expect(throws: TransportError.self) { try await CurlSession().send(request, TransferOptions()) }
            #expect(error?.code == .connectionFailed)
        }
    }

    // MARK: Limits

    @Test func `A body of just the limit is taken, one byte more is not`() async throws {
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                connection.write(
                    request.head.hasPrefix("GET /chunked")
                        ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world")
            }
        }
        for path in ["/", "/chunked"] {
            let request = try HTTPRequest(.get, "\(server.url)\(path)")
            let response = try await session.send(request, TransferOptions(delivery: .collected(limit: 11)))
            #expect(try await text(response) == "hello world")
            let error = await #expect(throws: TransportError.self) {
                _ = try await session.send(request, TransferOptions(delivery: .collected(limit: 10)))
            }
            #expect(error?.code == .bodyTooLarge(limit: 10))
            let streamed = try await session.send(request, TransferOptions(delivery: .streamed))
            let late = await #expect(throws: TransportError.self) { _ = try await streamed.body.collect(upTo: 10) }
            #expect(late?.code == .bodyTooLarge(limit: 10))
        }
    }
}
