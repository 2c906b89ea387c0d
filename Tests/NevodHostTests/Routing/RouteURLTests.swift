import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct RouteURLTests {
    private func target(_ base: String, _ endpoint: String, _ parameters: ParameterList...) throws -> String {
        try HTTPRequest(.get, RouteURL.make(base: base, endpoint: endpoint, parameters: parameters)).url
    }

    @Test(arguments: [
        ("http://h", "/users", "http://h/users"),
        ("http://h", "users", "http://h/users"),
        ("http://h/", "/users", "http://h/users"),
        ("http://h/v1", "/users", "http://h/v1/users"),
        ("http://h/v1/", "users", "http://h/v1/users"),
        ("http://h/v1//", "/users", "http://h/v1/users"),
        ("http://h/v1", "", "http://h/v1"),
        ("http://h/v1/", "", "http://h/v1/"),
        ("http://h/v1", "/", "http://h/v1/"),
        ("http://h/v1", "/users/", "http://h/v1/users/"),
        ("http://h/v1", "/a//b", "http://h/v1/a//b"),
        ("http://h", "", "http://h/"),
        ("http://h/a%2Fb", "/c%2Fd", "http://h/a%2Fb/c%2Fd"),
        ("http://h", "/a%20b%zz%", "http://h/a%20b%zz%"),
        ("http://h", "/a b", "http://h/a%20b"),
        ("http://h", "/ø/漢字/😀", "http://h/%C3%B8/%E6%BC%A2%E5%AD%97/%F0%9F%98%80"),
        ("http://h", "/users:batch", "http://h/users:batch"),
        ("http://h", "users:batch", "http://h/users:batch"),
        ("http://h", "/...", "http://h/..."),
        ("http://h", "/a..b/.hidden/c.", "http://h/a..b/.hidden/c."),
        ("http://h", "/a%5Cb", "http://h/a%5Cb"),
    ])
    func `A path is joined with one slash, and kept`(base: String, endpoint: String, url: String) throws {
        #expect(try target(base, endpoint) == url)
    }

    @Test func `Queries are joined byte for byte`() throws {
        #expect(try target("http://h/v1?key=%41+b", "/x?q=a%20b&&e=", ["p": "1"]) == "http://h/v1/x?key=%41+b&q=a%20b&&e=&p=1")
        #expect(try target("http://h?k=1", "") == "http://h/?k=1")
        #expect(try target("http://h", "?q=/../x", ["p": "1"]) == "http://h/?q=/../x&p=1")
        #expect(try target("http://h", "/x?") == "http://h/x?")
        #expect(try target("http://h", "/x?", ["p": "1"]) == "http://h/x?p=1")
        #expect(try target("http://h", "/x", [:], ["a": "1", "a": "2"], ["b": ""]) == "http://h/x?a=1&a=2&b=")
        #expect(try target("http://h", "/x?url=http://other/\\") == "http://h/x?url=http://other/%5C")
    }

    @Test(arguments: [
        "http://evil/x", "HTTPS://evil", "https:/evil", "a+b-c.1://x", "//evil", "//evil/x", "/..", "..", ".", "/.", "/a/../b",
        "/a/./b", "/a/..", "/%2e%2e/b", "/%2E./b", "/.%2e", "/%2e", "/%252e%252e/b", "/%25252e%25252e", "/..;x=1/b", "/..%3Bx/b",
        "/.;/b", "/..%2fb", "/a%2F..%2Fb", "/a%5c..%5Cb", "/a%252f..%252fb", "/a\\b", "\\\\evil", "/\\evil", "/a#b", "/a?b#c",
        "/a\r\nX: 1", "/a\nb", "/a\u{0}b", "/a\tb", "/a\u{7F}", "/a?b=\r\nX: 1",
    ])
    func `An endpoint that could lead to another place is refused`(endpoint: String) {
        let error = #expect(throws: InvalidRequestError.self) { try target("http://h/v1", endpoint) }
        #expect(error?.part == .url(endpoint))
    }

    @Test func `A service's address has no fragment`() {
        let error = #expect(throws: InvalidRequestError.self) { try target("http://h/v1#x", "/users") }
        #expect(error?.part == .url("http://h/v1#x"))
    }

    @Test func `The request has exactly the composed target`() async throws {
        let server = try ScriptedServer()
        let provider = NetworkProvider.test(server.url + "/v1/?key=1")
        for endpoint in ["/a%2Fb/c?x=%41&&y", "ø/漢 字", "/a//b/?q=1+2%2B3"] {
            let _: EmptyResponse = try await provider.perform(SimpleGetRoute(endpoint: endpoint, domain: Service.api))
        }
        let targets = server.requests.map(\.target)
        #expect(targets == ["/v1/a%2Fb/c?key=1&x=%41&&y", "/v1/%C3%B8/%E6%BC%A2%20%E5%AD%97?key=1", "/v1/a//b/?key=1&q=1+2%2B3"])
    }
}
