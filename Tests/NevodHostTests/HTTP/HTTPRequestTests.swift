import Testing

@testable import NevodHost

struct HTTPRequestTests {
    private func lines(_ request: HTTPRequest) -> [String] {
        request.headers.map { "\($0.name): \($0.value)" }
    }

    private func append(_ name: String, _ value: String, to request: inout HTTPRequest, as provenance: Provenance) {
        request.provenance = provenance
        request.appendQueryItem(name.utf8, value.utf8)
        request.provenance = .caller
    }

    // MARK: Headers

    @Test func `Headers can be set, added and removed`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try request.addHeader("A", "1")
        try request.addHeader("A", "2")
        #expect(lines(request) == ["A: 1", "A: 2"])
        try request.setHeader("a", "3")
        #expect(lines(request) == ["a: 3"])
        request.removeHeader("A")
        #expect(lines(request).isEmpty)
    }

    @Test(arguments: ["", "a b", "a:", "ä", "a\n", "a\0", "(a)", "a\"", "a/b"])
    func `A name that is no token is refused`(name: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        let error = #expect(throws: InvalidRequestError.self) { try request.setHeader(name, "v") }
        #expect(error?.part == .header(name))
        let added = #expect(throws: InvalidRequestError.self) { try request.addHeader(name, "v") }
        #expect(added?.part == .header(name))
        #expect(request.headers.isEmpty)
    }

    @Test(arguments: ["a\r\nX: y", "a\n", "\r", "\0", "a\u{1}", "\u{7F}"])
    func `A value with a control character is refused, and not repeated`(value: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        let error = try #require(throws: InvalidRequestError.self) { try request.setHeader("X-Name", "hunter2\(value)") }
        #expect("\(error)".contains("X-Name"))
        #expect(!"\(error)".contains("hunter2"))
        #expect(request.headers.isEmpty)
    }

    @Test func `A value may hold tabs and bytes beyond ASCII`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try request.setHeader("A", "a\tb ä")
        #expect(request.headers["A"] == "a\tb ä")
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING"])
    func `Content-Length and Transfer-Encoding can't be set`(name: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        let error = #expect(throws: InvalidRequestError.self) { try request.setHeader(name, "1") }
        #expect(error?.part == .header(name))
        let added = #expect(throws: InvalidRequestError.self) { try request.addHeader(name, "1") }
        #expect(added?.part == .header(name))
    }

    @Test func `Methods are tokens`() {
        #expect(HTTPMethod(rawValue: "PROPFIND")?.rawValue == "PROPFIND")
        for text in ["", "GE T", "GET\r\n", "GÉT"] { #expect(HTTPMethod(rawValue: text) == nil) }
        #expect(HTTPMethod(rawValue: "get") != .get)
    }

    // MARK: Cookies

    @Test func `Cookies share one line`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try request.setCookie("a", "1")
        try request.setCookie("b", "2")
        #expect(lines(request) == ["Cookie: a=1; b=2"])
        try request.setCookie("a", "3")
        #expect(lines(request) == ["Cookie: b=2; a=3"])
    }

    @Test func `Cookies of the caller stay, several lines become one`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try request.addHeader("Cookie", "ab=1;a=2")
        try request.addHeader("cookie", "flag;  c=x=y")
        try request.setCookie("a", "new")
        #expect(request.headers.values(of: "Cookie") == ["ab=1; flag; c=x=y; a=new"])
    }

    @Test(arguments: [("a", "1; admin=1"), ("a=1; b", "2"), ("", "1"), ("a;b", "1")])
    func `A cookie with a separator in its name or value is refused`(name: String, value: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        let error = #expect(throws: InvalidRequestError.self) { try request.setCookie(name, value) }
        #expect(error?.part == .header("Cookie"))
    }

    // MARK: Query

    @Test func `Query items are appended after the existing query, which stays byte for byte`() throws {
        for (url, target) in [
            ("http://h/p", "/p?k=v"), ("http://h/p?", "/p?&k=v"), ("http://h/p?a=%2f+b&&c", "/p?a=%2f+b&&c&k=v"),
            ("http://h", "/?k=v"),
        ] {
            var request = try HTTPRequest(.get, url)
            append("k", "v", to: &request, as: .token("T"))
            #expect(request.target == target)
        }
    }

    @Test func `Names and values are percent-encoded`() throws {
        var request = try HTTPRequest(.get, "http://h/p")
        append("k&=", "a b+ä/?%", to: &request, as: .token("T"))
        #expect(request.target == "/p?k%26%3D=a%20b%2B%C3%A4%2F%3F%25")
    }

    @Test func `An item of one provenance is replaced when it is written again`() throws {
        var request = try HTTPRequest(.get, "http://h/p?key=caller")
        for value in ["1", "22", "333"] { append("key", value, to: &request, as: .token("T")) }
        #expect(request.target == "/p?key=caller&key=333")
        append("key", "other", to: &request, as: .scheme("s"))
        append("key", "4", to: &request, as: .token("T"))
        #expect(request.target == "/p?key=caller&key=other&key=4")
        append("ke", "x", to: &request, as: .token("T"))
        #expect(request.target == "/p?key=caller&key=other&key=4&ke=x")
    }

    @Test func `The caller's own items are never replaced`() throws {
        var request = try HTTPRequest(.get, "http://h/p")
        request.appendQueryItem("a".utf8, "1".utf8)
        request.appendQueryItem("a".utf8, "2".utf8)
        #expect(request.target == "/p?a=1&a=2")
    }

    /// The item to be replaced is the first of the query, and others follow.
    @Test func `Replacing the first item keeps the rest of the query`() throws {
        var request = try HTTPRequest(.get, "http://h/p")
        append("a", "1", to: &request, as: .scheme("s"))
        append("b", "2", to: &request, as: .scheme("s"))
        append("a", "3", to: &request, as: .scheme("s"))
        #expect(request.target == "/p?b=2&a=3")
        #expect(request.redactedTarget == "/p?b=[redacted: scheme s]&a=[redacted: scheme s]")
    }

    @Test func `The recorded ranges stay correct after several edits`() throws {
        var request = try HTTPRequest(.get, "http://h/p?x=0")
        append("a", "11", to: &request, as: .token("T"))
        append("b", "2", to: &request, as: .scheme("s"))
        append("mine", "seen", to: &request, as: .caller)
        append("c", "3", to: &request, as: .token("T"))
        append("a", "secret-longer", to: &request, as: .token("T"))
        append("b", "", to: &request, as: .scheme("s"))
        #expect(request.target == "/p?x=0&mine=seen&c=3&a=secret-longer&b=")
        #expect(request.redactedTarget == "/p?x=0&mine=seen&c=[redacted: token T]&a=[redacted: token T]&b=[redacted: scheme s]")
        let bytes = Array(request.target.utf8)
        #expect(
            request.addedQueryItems.map { String(decoding: bytes[$0.range], as: UTF8.self) } == ["c=3", "a=secret-longer", "b="])
    }

    // MARK: materialize

    @Test(
        arguments: [
            (HTTPMethod.get, HTTPBody.none, nil), (.head, .none, nil), (.delete, .none, nil), (.options, .none, nil),
            (.post, .none, "0"), (.put, .none, "0"), (.patch, .none, "0"), (.post, .bytes([]), "0"), (.get, .bytes([]), nil),
            (.get, .bytes([1, 2]), "2"), (.post, .bytes([1, 2, 3]), "3"), (.delete, .bytes([1]), "1"),
        ] as [(HTTPMethod, HTTPBody, String?)])
    func `Content-Length follows from the method and the body`(method: HTTPMethod, body: HTTPBody, length: String?) throws {
        var request = try HTTPRequest(method, "http://h:81/", body: body)
        request.materialize()
        #expect(request.headers.values(of: "Content-Length") == (length.map { [$0] } ?? []))
        #expect(!request.headers.contains("Transfer-Encoding"))
    }

    @Test(
        arguments: [(nil, "Transfer-Encoding: chunked"), (5, "Content-Length: 5"), (0, "Content-Length: 0")] as [(Int64?, String)]
    )
    func `A stream's length decides its framing`(length: Int64?, expected: String) throws {
        let stream = HTTPBodyStream(length: length, isReplayable: false) { throw CancellationError() }
        var request = try HTTPRequest(.post, "http://h/", body: .stream(stream))
        request.materialize()
        #expect(lines(request) == ["Host: h", expected])
    }

    @Test func `The host's lines come first, and the caller's keep their order`() throws {
        var request = try HTTPRequest(.post, "http://h:8080/", body: .bytes([1]))
        try request.addHeader("X", "1")
        try request.addHeader("accept", "text/plain")
        request.materialize()
        #expect(lines(request) == ["Host: h:8080", "Content-Length: 1", "X: 1", "accept: text/plain"])
        #expect(request.headers.map(\.provenance) == [.host, .host, .caller, .caller])
    }

    @Test func `A Host of the caller's is kept, and comes first`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try request.addHeader("X", "1")
        try request.addHeader("Host", "virtual")
        request.materialize()
        #expect(request.headers.values(of: "Host") == ["virtual"])
        #expect(lines(request).first == "Host: virtual")
    }

    @Test func `Materializing twice changes nothing more`() throws {
        var request = try HTTPRequest(.post, "http://h/", body: .bytes([1]))
        request.materialize()
        let once = lines(request)
        request.materialize()
        #expect(lines(request) == once)
    }

    @Test func `Lines with a credential's name are credentials, even if the caller wrote them`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        for name in ["Authorization", "Cookie", "X-API-Key", "X-Trace", "Idempotency-Key"] { try request.setHeader(name, "v") }
        #expect(request.carriesCredentials)
        request.stripCredentials()
        #expect(request.headers.map(\.name) == ["X-Trace", "Idempotency-Key"])
        #expect(!request.carriesCredentials)
    }

    @Test func `Edits of an exchange are recorded with their provenance`() throws {
        var exchange = Exchange(request: try HTTPRequest(.get, "http://h/"), options: TransferOptions(), attempt: 1)
        try exchange.edit(as: .token("T")) { try $0.setHeader("A", "1") }
        let error = #expect(throws: InvalidRequestError.self) {
            try exchange.edit(as: .token("T")) { try $0.setHeader("A", "\n") }
        }
        #expect(error?.part == .header("A"))
        try exchange.request.setHeader("B", "2")
        #expect(exchange.request.headers.map(\.provenance) == [.token("T"), .caller])
    }
}
