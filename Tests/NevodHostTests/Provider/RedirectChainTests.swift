import Testing

@testable import NevodHost

struct RedirectChainTests {
    private static let value = "s3cret-value-4711"

    /// A request to whose query a token has written.
    private func request(_ method: HTTPMethod, _ url: String, body: HTTPBody = .none) throws -> (
        HTTPRequest, sent: HTTPRequest
    ) {
        let request = try HTTPRequest(method, url, body: body)
        var sent = request
        sent.provenance = .token("T")
        sent.appendQueryItem("key".utf8, Self.value.utf8)
        return (request, sent)
    }

    private func follow(
        _ chain: inout RedirectChain, _ hop: (HTTPRequest, sent: HTTPRequest), _ status: Int, _ location: String
    ) throws -> HTTPRequest? {
        var headers = HTTPHeaders()
        headers.add("Location", location, by: .host)
        let response = HTTPResponse(version: .http11, status: status, reason: "", headers: headers, body: .bytes([]))
        guard case .follow(let next) = try chain.next(after: response, to: hop.0, sent: hop.sent) else { return nil }
        return next
    }

    private static let nested = [
        "next=https://h/p?a=1%26key=s3cret-value-4711", "next=https%3A%2F%2Fh%2Fp%3Fa%3D1%26key%3Ds3cret-value-4711",
        "next=https%253A%252F%252Fh%252F%253Fkey%253Ds3cret%252Dvalue%252D4711",
        "next=https%25253A%25252F%25252Fh%25252F%25253Fkey%25253Ds3cret-value-4711",
        // "https://h/?key=s3cret-value-4711", with nothing, one and two letters before it.
        "next=aHR0cHM6Ly9oLz9rZXk9czNjcmV0LXZhbHVlLTQ3MTE", "next=eGh0dHBzOi8vaC8_a2V5PXMzY3JldC12YWx1ZS00NzEx",
        "next=eHhodHRwczovL2gvP2tleT1zM2NyZXQtdmFsdWUtNDcxMQ==", "next=eGh0dHBzOi8vaC8/a2V5PXMzY3JldC12YWx1ZS00NzEx",
        "next=eGh0dHBzOi8vaC8%2Fa2V5PXMzY3JldC12YWx1ZS00NzEx", "other=s3cret-value-4711",
    ]

    @Test(arguments: nested)
    func `A credential within a URL doesn't leave the origin`(item: String) throws {
        var chain = RedirectChain(.follow(limit: 9))
        let hop = try request(.get, "https://h/p?x=1")
        let next = try #require(try follow(&chain, hop, 302, "https://other/login?a=1&\(item)&b=2"))
        #expect(next.url == "https://other/login?a=1&b=2")
    }

    @Test(arguments: nested)
    func `A credential of an earlier hop doesn't leave the origin`(item: String) throws {
        var chain = RedirectChain(.follow(limit: 9))
        let second = try #require(try follow(&chain, request(.get, "https://h/p"), 302, "/2?\(item)"))
        // This hop has another signature.
        let third = try #require(try follow(&chain, (second, sent: second), 302, "https://other/?\(item)&c=3"))
        #expect(third.url == "https://other/?c=3")
        let fourth = try #require(try follow(&chain, (third, sent: third), 302, "https://h/?\(item)"))
        #expect(fourth.url == "https://h/")
    }

    @Test(arguments: nested)
    func `A credential within a URL stays at its origin`(item: String) throws {
        var chain = RedirectChain(.follow(limit: 9))
        let next = try #require(try follow(&chain, request(.get, "https://h/p"), 302, "/login?a=1&\(item)"))
        #expect(next.url == "https://h/login?a=1&\(item)")
    }

    @Test(arguments: ["/login/s3cret-value-4711", "/aHR0cHM6Ly9oLz9rZXk9czNjcmV0LXZhbHVlLTQ3MTE/x", "//s3cret-value-4711.other/"])
    func `A redirect that repeats a credential outside of the query is refused`(path: String) throws {
        var chain = RedirectChain(.follow(limit: 9))
        let location = path.hasPrefix("//") ? "https:\(path)" : "https://other\(path)"
        let error = #expect(throws: RedirectError.self) { try follow(&chain, request(.get, "https://h/p"), 302, location) }
        #expect(error?.description.contains("repeats a credential") == true)
        #expect(error?.description.contains(Self.value) == false)
    }

    @Test func `Secrets that the caller wrote by name don't leave the origin, and other lines do`() throws {
        var chain = RedirectChain(.follow(limit: 9))
        var (plain, sent) = try request(.get, "https://h/p")
        for (name, value) in [("X-API-Key", "k"), ("Authorization", "a"), ("X-Trace", "t"), ("Idempotency-Key", "i")] {
            try plain.setHeader(name, value)
            try sent.setHeader(name, value)
        }
        let next = try #require(try follow(&chain, (plain, sent: sent), 302, "https://other/"))
        #expect(next.headers.map(\.name) == ["X-Trace", "Idempotency-Key"])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `A body isn't sent unencrypted after a redirect from https`(status: Int) throws {
        let body = HTTPBody.bytes([1, 2, 3])
        for method in [HTTPMethod.post, .put] {
            var chain = RedirectChain(.follow(limit: 9))
            let hop = try request(method, "https://h/p", body: body)
            let keepsBody = status >= 307 || status != 303 && method == .put
            if keepsBody {
                let error = #expect(throws: RedirectError.self) { try follow(&chain, hop, status, "http://h/p") }
                #expect(error?.description.contains("unencrypted") == true)
            } else {
                #expect(try follow(&chain, hop, status, "http://h/p")?.body.length == 0)
            }
        }
        var chain = RedirectChain(.follow(limit: 9))
        #expect(try follow(&chain, request(.get, "https://h/p"), status, "http://h/p")?.url == "http://h/p")
        #expect(try follow(&chain, request(.post, "http://h/p", body: body), status, "https://h/p")?.url == "https://h/p")
        #expect(try follow(&chain, request(.post, "http://h/p", body: body), status, "http://g/p")?.url == "http://g/p")
    }
}
