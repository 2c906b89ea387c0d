import Testing

@testable import NevodHost

struct TraceRedactorTests {
    private static let secret = "s3cret-value-4711"

    private func redactor(_ edit: (inout HTTPRequest) throws -> Void) throws -> (TraceRedactor, HTTPRequest) {
        var request = try HTTPRequest(.get, "http://h/p?a=1")
        try edit(&request)
        var redactor = TraceRedactor()
        redactor.learn(request)
        return (redactor, request)
    }

    private func response(_ lines: (String, String)..., reason: String = "OK") -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in lines { headers.add(name, value, by: .host) }
        return HTTPResponse(version: .http11, status: 200, reason: reason, headers: headers, body: .bytes([]))
    }

    @Test func `What a server repeats is redacted, in every encoding`() throws {
        var (redactor, _) = try redactor { request in
            request.provenance = .token("T")
            request.appendQueryItem("key".utf8, Self.secret.utf8)
            try request.setHeader("X-Any", "header-secret")
        }
        let head = redactor.head(
            of: response(
                ("Location", "http://other/?next=http%253A%252F%252Fh%252F%253Fkey%253D\(Self.secret)"),
                ("Refresh", "0;url=/aHR0cHM6Ly9oLz9rZXk9czNjcmV0LXZhbHVlLTQ3MTE"),
                ("Link", "<http://h/?key=\(Self.secret)&page=2>; rel=next"), ("X-Echo", "you sent header-secret"),
                ("X-\(Self.secret)", "1"), ("Set-Cookie", "a=cookie-secret; Path=/"), ("X-Later", "cookie-secret"),
                ("Content-Type", "text/html"), reason: "no \(Self.secret)"))
        let text = head.joined(separator: "\n")
        for secret in [Self.secret, "header-secret", "cookie-secret", "aHR0cHM6Ly9oLz9rZXk9czNjcmV0"] {
            #expect(!text.contains(secret), "\(text)")
        }
        #expect(head.contains("Content-Type: text/html"))
        #expect(head.contains("Set-Cookie: [redacted]"))
        #expect(head.contains("Link: <http://h/?key=[redacted]&page=2>; rel=next"))
    }

    @Test func `The caller's own secrets are redacted by name`() throws {
        var (redactor, request) = try redactor { request in
            try request.appendQuery(Array("access_token=\(Self.secret)&b=2".utf8))
            try request.setHeader("X-API-Key", "header-secret")
            try request.setHeader("Authorization", "Basic Ym9iOkhVTlRFUjI=")
            try request.setHeader("X-Trace", "1")
        }
        #expect(
            redactor.head(of: request) == [
                "GET /p?a=1&access_token=[redacted]&b=2", "X-API-Key: [redacted]", "Authorization: [redacted]", "X-Trace: 1",
            ])
        #expect(redactor.head(of: response(("X-Echo", "HUNTER2 \(Self.secret)")))[1] == "X-Echo: [redacted] [redacted]")
        #expect(!request.redactedHead.joined().contains(Self.secret))
        #expect(!request.description.contains(Self.secret))
    }

    @Test func `Secrets of every request of a chain are remembered`() throws {
        var redactor = TraceRedactor()
        for number in 0..<20 {
            var request = try HTTPRequest(.get, "http://h/")
            try request.setHeader("Authorization", "Bearer token-number-\(number)-x")
            redactor.learn(request)
        }
        redactor.learn("told-secret".utf8)
        redactor.learn("x".utf8)
        let text = redactor.text("token-number-0-x token-number-19-x told-secret x")
        #expect(text == "[redacted] [redacted] [redacted] x")
    }

    @Test(arguments: [
        ("can't connect to http://bob:HUNTER2@h:1/", "can't connect to http://[redacted]@h:1/"),
        ("Unsupported proxy syntax in 'http://bob:HUNTER2@[bad'", "Unsupported proxy syntax in 'http://[redacted]@[bad'"),
        ("the URL \"http://bob:HUNTER2\" can't be used", "the URL \"http://bob:[redacted]\" can't be used"),
        ("GET http://h/?access_token=HUNTER2&x=1 failed", "GET http://h/?access_token=[redacted]&x=1 failed"),
        ("write --set secret=env:VARIABLE, file:PATH or -", "write --set secret=env:VARIABLE, file:PATH or -"),
        ("kept in postgresql://bob@h/db", "kept in postgresql://bob@h/db"),
        ("kept in postgresql://bob:HUNTER2@h/db", "kept in postgresql://bob:[redacted]@h/db"),
        (
            "Failed to connect to 127.0.0.1 port 1: refused http://h:80: no",
            "Failed to connect to 127.0.0.1 port 1: refused http://h:80: no"
        ),
        ("write --set token-url=http://h/t", "write --set token-url=http://h/t"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted]"), ("", ""), ("://", "://"),
    ])
    func `Messages keep their explanations and lose their secrets`(message: String, shown: String) {
        #expect(TraceRedactor().message(message) == shown)
    }
}
