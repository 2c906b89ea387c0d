import Foundation
import NevodHostFoundation
import NevodTestSupport
import Testing

@testable import NevodHost

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tokens that are written for `URLRequest`.
struct URLRequestTests {
    private struct Editing: TokenModel {
        let edit: @Sendable (inout URLRequest) throws -> Void
        func authorize(_ request: inout URLRequest) throws { try edit(&request) }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> Editing { Editing { _ in } }
    }

    private func edited(
        _ request: HTTPRequest, _ edit: @escaping @Sendable (inout URLRequest) throws -> Void
    ) async throws -> HTTPRequest {
        var exchange = Exchange(request: request, options: TransferOptions(), attempt: 1)
        try await Editing(edit: edit).authorize(&exchange)
        return exchange.request
    }

    private func request(_ url: String = "https://h/a%2Fb?x=%2c&&y=a+b", body: HTTPBody = .none) throws -> HTTPRequest {
        var request = try HTTPRequest(.post, url, body: body)
        try request.addHeader("x-lower", "1")
        try request.addHeader("Accept", "a/b")
        try request.addHeader("accept", "c/d")
        try request.addHeader("Cookie", "a=1")
        return request
    }

    private func lines(_ request: HTTPRequest) -> [String] { request.headers.map { "\($0.name): \($0.value)" } }

    @Test func `A token finds the request's method, URL, headers and body`() async throws {
        _ = try await edited(request(body: .bytes([1]))) { request in
            #expect(request.httpMethod == "POST")
            #expect(request.url?.absoluteString == "https://h/a%2Fb?x=%2c&&y=a+b")
            #expect(request.value(forHTTPHeaderField: "X-Lower") == "1")
            #expect(request.value(forHTTPHeaderField: "Accept") == "a/b, c/d")
            #expect(request.httpBody == Data([1]))
        }
    }

    private static let idleEdits: [@Sendable (inout URLRequest) -> Void] = [
        { _ in }, { $0.url = $0.url }, { $0.setValue("1", forHTTPHeaderField: "X-LOWER") }, { $0.httpMethod = "post" },
        { $0.httpBody = $0.httpBody },
        { request in
            guard let url = request.url, var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return }
            components.queryItems = components.queryItems
            request.url = components.url
        },
    ]

    @Test(arguments: ["https://h/a%2Fb?x=%2c&&y=a+b", "http://h/%zz?q[]=1", "http://[::1]:8080", "https://h?"])
    func `A token that changes nothing records no edit`(url: String) async throws {
        var before = try request(url, body: .bytes([1, 2]))
        before.materialize()
        for edit in Self.idleEdits {
            let after = try await edited(before, edit)
            #expect(lines(after) == lines(before))
            #expect(after.url == before.url)
            #expect(after.method == before.method)
            #expect(after.headers.allSatisfy { !$0.provenance.writesCredentials })
            #expect(after.addedQueryItems.isEmpty)
        }
    }

    @Test func `Authorization is redacted, and stripped, like a native token's`() async throws {
        var after = try await edited(request()) {
            $0.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            $0.setValue("secret", forHTTPHeaderField: "X-Key")
        }
        #expect(after.headers["Authorization"] == "Bearer secret")
        #expect(after.headers.filter { $0.provenance == .token("Editing") }.map(\.name) == ["Authorization", "X-Key"])
        #expect(!after.redactedHead.contains { $0.contains("secret") })
        #expect(after.redactedHead.contains("X-Key: [redacted: token Editing]"))
        after.stripCredentials()
        #expect(lines(after) == ["x-lower: 1", "Accept: a/b", "accept: c/d"])
    }

    @Test func `Only what was added to a line is the token's`() async throws {
        let after = try await edited(request()) {
            $0.addValue("e/f", forHTTPHeaderField: "Accept")
            $0.setValue(nil, forHTTPHeaderField: "x-lower")
        }
        #expect(after.headers.values(of: "Accept") == ["a/b", "c/d", "e/f"])
        #expect(!after.headers.contains("X-Lower"))
        #expect(after.headers.filter(\.provenance.writesCredentials).map(\.value) == ["e/f"])
    }

    @Test func `A line that is changed is the token's`() async throws {
        let after = try await edited(request()) { $0.setValue("2", forHTTPHeaderField: "X-Lower") }
        #expect(after.headers.values(of: "x-lower") == ["2"])
        #expect(after.headers.filter(\.provenance.writesCredentials).map(\.value) == ["2"])
    }

    @Test func `An item that is appended with URLComponents leaves the others as they are`() async throws {
        var after = try await edited(request()) { request in
            let url = try #require(request.url)
            var components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            components.queryItems = (components.queryItems ?? []) + [URLQueryItem(name: "key", value: "s ec&ret")]
            request.url = components.url
        }
        #expect(after.target == "/a%2Fb?x=%2c&&y=a+b&key=s%20ec%26ret")
        #expect(after.redactedTarget == "/a%2Fb?x=%2c&&y=a+b&key=[redacted: token Editing]")
        after.stripCredentials()
        #expect(after.target == "/a%2Fb?x=%2c&&y=a+b")
    }

    @Test func `An item stays as the token spelled it`() async throws {
        let after = try await edited(request("https://h/p")) { $0.url = URL(string: "https://h/p?k=a+b%2c/&secret") }
        #expect(after.target == "/p?k=a+b%2c/&secret")
        #expect(after.redactedTarget == "/p?k=[redacted: token Editing]&[redacted: token Editing]")
    }

    @Test(arguments: [
        "https://other/a?x=1", "http://h/a?x=1", "https://h/b?x=1", "https://h:444/a?x=1", "https://h/a", "https://h/a?x=2",
        "https://h/a?y&x=",
    ])
    func `A URL changes in no other way`(url: String) async throws {
        let error = await #expect(throws: InvalidRequestError.self) {
            try await edited(request("https://h/a?x=1")) { $0.url = URL(string: url) }
        }
        #expect(error?.description.contains("x=") == false)
    }

    @Test func `A body that is changed has its own length`() async throws {
        var before = try request(body: .bytes([1, 2]))
        before.materialize()
        var after = try await edited(before) { $0.httpBody = Data([1, 2, 3]) }
        after.materialize()
        #expect(after.headers["Content-Length"] == "3")
        after = try await edited(before) { $0.httpBody = nil }
        #expect(after.body.length == 0)
        #expect(!after.headers.contains("Content-Length"))
    }

    @Test func `A streamed body is shown, and not lost`() async throws {
        let body = HTTPBody.stream(.of([[1]], length: 1))
        let after = try await edited(request(body: body)) {
            #expect($0.httpBody == Data([1]))
            $0.setValue("1", forHTTPHeaderField: "X-Key")
        }
        guard case .stream = after.body else {
            Issue.record("the stream is gone")
            return
        }
        let error = await #expect(throws: InvalidRequestError.self) {
            try await edited(request()) { $0.httpBodyStream = InputStream(data: Data([1])) }
        }
        #expect(error?.part == .body)
    }

    /// `URLRequest.setValue` silently drops such a value; a dictionary keeps it.
    @Test(arguments: ["line\r\nX-Other: 1", "nul\0"])
    func `A header value with a line break or NUL is refused`(value: String) async throws {
        let error = await #expect(throws: InvalidRequestError.self) {
            try await edited(request()) { $0.allHTTPHeaderFields?["X-Key"] = value }
        }
        #expect(error?.part == .header("X-Key"))
    }

    @Test func `A length is derived, not set`() async throws {
        let error = await #expect(throws: InvalidRequestError.self) {
            try await edited(request()) { $0.setValue("7", forHTTPHeaderField: "Content-Length") }
        }
        #expect(error?.part == .header("Content-Length"))
    }
}
