import Testing

@testable import nevod_host

@Suite struct ProfileTests {
    @Test(
        "Base and operand are joined by one slash and otherwise unchanged",
        arguments: [
            ("https://h/v1", "/orders", "https://h/v1/orders"), ("https://h/v1/", "/orders", "https://h/v1/orders"),
            ("https://h/v1/", "orders", "https://h/v1/orders"), ("https://h/v1", "orders/", "https://h/v1/orders/"),
            ("https://h", "/", "https://h/"), ("https://h", "x", "https://h/x"), ("https://h/v1", "", "https://h/v1"),
            ("https://h/v1", "/a//b/../c%2F", "https://h/v1/a//b/../c%2F"), ("https://h/v1", "//a", "https://h/v1//a"),
            ("https://h/v1/", "/\u{301}x", "https://h/v1/\u{301}x"),
            // Queries.
            ("https://h/v1?k=1", "/o", "https://h/v1/o?k=1"), ("https://h/v1?k=1", "/o?x=2", "https://h/v1/o?k=1&x=2"),
            ("https://h/v1", "/o?x=2?y", "https://h/v1/o?x=2?y"), ("https://h/v1?k", "?x", "https://h/v1?k&x"),
            ("https://h?k", "/o", "https://h/o?k"), ("https://h/v1", "/o?", "https://h/v1/o?"),
            ("https://h/v1?k", "/o#f?x", "https://h/v1/o?k#f?x"), ("https://h/v1", "#f", "https://h/v1#f"),
            // Absolute URLs of any scheme; the request validates them.
            ("https://h/v1", "http://other/x", "http://other/x"), ("https://h/v1", "HTTPS://o", "HTTPS://o"),
            ("https://h/v1", "ftp://o", "ftp://o"),
            // Not absolute.
            ("https://h/v1", "a:b", "https://h/v1/a:b"), ("https://h/v1", "/r?u=http://o/", "https://h/v1/r?u=http://o/"),
            ("https://h/v1", "localhost:80/x", "https://h/v1/localhost:80/x"), ("https://h/v1", "://x", "https://h/v1/://x"),
        ])
    func url(base: String, operand: String, url: String) {
        #expect(Profile(name: "p", baseURL: base).url(for: operand) == url)
    }

    @Test("Without a base every operand stays as it is", arguments: ["/x", "https://h/", ""])
    func noBase(operand: String) {
        #expect(Profile(name: "p").url(for: operand) == operand)
    }
}
