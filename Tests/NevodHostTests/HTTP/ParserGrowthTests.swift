import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Feeds each parser of server data with inputs of two sizes, crafted to be slow, and limits how its time grows.
struct ParserGrowthTests {
    struct Parser: Sendable, CustomTestStringConvertible {
        let name: String
        let size: Int
        let factor: @Sendable (Int) throws -> Double
        var testDescription: String { name }

        init<Input>(
            _ name: String, _ size: Int, _ make: @escaping @Sendable (Int) throws -> Input,
            _ run: @escaping @Sendable (Input) throws -> Void
        ) {
            self.name = name
            self.size = size
            factor = { try Growth.factor($0, make, run) }
        }
    }

    private static func headers(_ lines: [(String, String)]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in lines { headers.add(name, value, by: .host) }
        return headers
    }

    private static func repeated(_ text: String) -> @Sendable (Int) -> String {
        { String(repeating: text, count: $0) }
    }

    private static func head(_ lines: [String]) throws -> HTTPHeaders {
        var head = ResponseHead(limit: .max)
        for line in ["HTTP/1.1 200 OK"] + lines + [""] {
            try Array("\(line)\r\n".utf8).withUnsafeBufferPointer { (line) throws(TransportError) in try head.receive(line) }
        }
        return head.response(.bytes([])).headers
    }

    static let parsers: [Parser] = [
        Parser("header lines", 500, { size in (0..<size).map { "X-\($0): a" } }, { _ = try head($0) }),
        Parser("a folded header line", 500, { size in ["X: a"] + Array(repeating: " b", count: size) }, { _ = try head($0) }),
        Parser("a folded empty line", 500, { size in ["X:"] + Array(repeating: " b", count: size) }, { _ = try head($0) }),
        Parser(
            "removing lines of one name", 500, { size in headers((0..<size).map { ($0 % 2 == 0 ? "A" : "B", "x") }) },
            {
                var headers = $0
                headers.remove("a")
            }),
        Parser(
            "Connection", 200,
            { size in
                headers(
                    (0..<size).map { ("X-\($0)", "a") } + [("Connection", (0..<size).map { "y-\($0)" }.joined(separator: ","))])
            },
            { _ = StoredHeaders.storable(in: $0) }),
        Parser(
            "Vary", 200, { size in headers([("Vary", (0..<size).map { "y-\($0)" }.joined(separator: ","))]) },
            { _ = VaryKey(of: $0, for: try get("http://h/"), .ofProcess) }),
        Parser("Cache-Control", 500, { headers([("Cache-Control", repeated("a=\"b\",")($0))]) }, { _ = CacheControl($0) }),
        Parser(
            "Cache-Control without an end", 1000, { headers([("Cache-Control", "a=\"" + repeated("\\\"")($0))]) },
            { _ = CacheControl($0) }),
        Parser("Link", 500, { headers([("Link", repeated("<a>;b=\"c\\\"\";d,")($0))]) }, { _ = LinkHeader.next(in: $0) }),
        Parser(
            "Link without an end", 2000, { headers([("Link", "<a>;b=\"" + repeated("\\\"")($0))]) },
            { _ = LinkHeader.next(in: $0) }),
        Parser("dates", 2000, repeated(" 1-,"), { _ = HTTPDate.parse($0) }),
        Parser("cookie dates", 2000, repeated(" 1:1:1;a"), { _ = CookieDate.unixSeconds($0) }),
        Parser(
            "attributes of a cookie", 500, { "a=b" + repeated("; Path=/; Domain=h; Max-Age=1; x")($0) },
            { _ = Cookie(setCookie: $0, from: try get("https://h/"), now: cookieTime) }),
        Parser(
            "a cookie's spaces", 5000, { "a" + repeated(" ")($0) + "=" + repeated(" \t")($0) + ";" },
            { _ = Cookie(setCookie: $0, from: try get("https://h/"), now: cookieTime) }),
        // More than a jar holds for one site, so that both sizes fill it.
        Parser(
            "cookies", 400, { size in (0..<size).map { "c\($0)=\($0)" } },
            { lines in
                var jar = CookieJar()
                jar.store(setCookieLinesOf: response(setting: lines), from: try get("https://h.example/"), now: cookieTime)
            }),
        Parser("URLs", 2000, { "http://h/" + repeated("a%2f\"?&=")($0) }, { _ = try HTTPRequest(.get, $0) }),
        Parser("long hosts", 2000, { "http://" + repeated("ä.")($0) + "/" }, { _ = try? HTTPRequest(.get, $0) }),
        Parser("dot segments", 2000, repeated("../a/./"), { _ = URLReference($0).resolved(against: "http://h", "/a/b") }),
        Parser("cookie paths", 2000, repeated("/%2e%2E/a"), { _ = CookieScope.requestPath(of: $0) }),
        Parser(
            "JSON", 500, { "[" + repeated("{\"a\":[1,\"\\u00e9\"]},")($0) + "0]" },
            { _ = try JSONValue(response: Array($0.utf8)) }),
        Parser(
            "JSON names", 500, { size in "{" + (0..<size).map { "\"n\($0)\":0" }.joined(separator: ",") + "}" },
            { _ = try JSONValue(response: Array($0.utf8)) }),
        Parser("JSON without an end", 2000, repeated("{\"a"), { _ = try? JSONValue(response: Array($0.utf8)) }),
        Parser("terminal text", 2000, repeated("\u{1B}[0m\u{202E}a"), { _ = TerminalText.safe($0) }),
        Parser(
            "log lines", 2000, { LogMetadata([.init(name: "a", value: repeated("\" =\\\n")($0))]) }, { _ = LogLine.text("m", $0) }
        ),
        Parser("names of secrets", 5000, repeated("toke."), { _ = RedactedNames.default.contains($0.utf8) }),
        Parser(
            "redirects of a login", 500, { "app:/?state=s&code=c" + repeated("&a=%20b")($0) },
            {
                _ = try OAuthRedirect(
                    $0, for: OAuthLogin(redirectURI: "app:/", state: "s"), at: OAuthServer(tokenEndpoint: "https://h/"))
            }),
    ]

    @Test(arguments: parsers)
    func `The time of a parser grows with its input, not faster`(parser: Parser) throws {
        let factor = try parser.factor(parser.size)
        #expect(factor < Growth.linear)
    }

    @Test func `A quadratic operation is noticed`() throws {
        let factor = try Growth.factor(
            200, { $0 },
            { size in
                var sum = 0
                for outer in 0..<size { for inner in 0..<size { sum &+= outer ^ inner } }
                withExtendedLifetime(sum) {}
            })
        #expect(factor > Growth.linear)
    }
}
