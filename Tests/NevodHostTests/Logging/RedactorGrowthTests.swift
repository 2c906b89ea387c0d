import NevodTestSupport
import Testing

@testable import NevodHost

/// Redacts text that a server has crafted to be slow to redact.
struct RedactorGrowthTests {
    private struct Exchange {
        let request: HTTPRequest
        let response: HTTPHeaders
    }

    private func exchange(_ lines: [(String, String)]) throws -> Exchange {
        var headers = HTTPHeaders()
        for (name, value) in lines { headers.add(name, value, by: .host) }
        return Exchange(request: try HTTPRequest(.get, "http://h/"), response: headers)
    }

    /// Like the logging interceptor does it.
    private func show(_ exchange: Exchange) {
        var redactor = Redactor(names: .default, request: exchange.request)
        redactor.learn(exchange.response)
        for line in exchange.response { _ = redactor.hidingSecrets(redactor.value(of: line)) }
    }

    @Test func `Cookies that differ`() throws {
        let factor = try Growth.factor(
            100, { size in try exchange((0..<size).map { ("Set-Cookie", "c\($0)=value-\($0)") }) }, show)
        #expect(factor < Growth.linear)
    }

    @Test func `Cookies between other lines`() throws {
        let factor = try Growth.factor(
            100, { size in try exchange((0..<size).map { ($0 % 2 == 0 ? "Set-Cookie" : "X-A", "c\($0)=value-\($0)") }) }, show)
        #expect(factor < Growth.linear)
    }

    @Test func `Cookies that are prefixes of each other, in a text like them`() throws {
        let factor = try Growth.factor(
            1000,
            { size in
                let a = String(repeating: "a", count: size)
                return try exchange((1...8).map { ("Set-Cookie", "c=\(a.prefix(size * $0 / 8))b") } + [("X-A", a + a)])
            }, show)
        #expect(factor < Growth.linear)
    }

    @Test(arguments: [
        "\"password\":\"secret\",", "{\"token\":{", "\"a\\", "password", "password ", "a=b&token=c&", "x%3D", "http://", "://a@",
        "eyJ.",
        "token=\\\"\\'", "%25", "[a].b[",
    ])
    func `Bodies`(piece: String) throws {
        let factor = try Growth.factor(
            200, { size in Array(String(repeating: piece, count: size).utf8) },
            { body in
                var redactor = Redactor(names: .default, request: try HTTPRequest(.get, "http://h/"))
                _ = redactor.body(body, type: "application/json", limit: 1 << 20)
            })
        #expect(factor < Growth.linear, "\(piece)")
    }

    /// A name with one more level of encoding for each of its parts.
    @Test func `Names that are encoded many times`() throws {
        let factor = try Growth.factor(
            20,
            { size in (0..<size).map { "a%" + String(repeating: "25", count: $0) + "3Db" }.joined() },
            { text in _ = Redactor(names: .default, request: try HTTPRequest(.get, "http://h/")).text(text) })
        // The text itself is quadratic in the number of its names.
        #expect(factor < 8 * Growth.linear)
    }

    @Test func `Nothing is shown of a response with more secrets than can be looked for`() throws {
        let lines =
            (0..<4000).map { ("Set-Cookie", "c=\(String($0, radix: 7))" + String(repeating: "/", count: 60)) } + [
                ("X-A", "visible")
            ]
        let exchange = try exchange(lines)
        var redactor = Redactor(names: .default, request: exchange.request)
        redactor.learn(exchange.response)
        let shown = exchange.response.map { redactor.value(of: $0) }
        #expect(shown.last == "[redacted: there are too many secrets to look for]")
        #expect(shown.first == "c=[redacted]")
        #expect(redactor.text("x") == "[redacted: there are too many secrets to look for]" && redactor.text("").isEmpty)
        #expect(redactor.url(of: exchange.request) == "http://h/")
    }

    // MARK: The search, compared with a plain one

    @Test func `Random texts are found where a plain search finds them`() throws {
        var random = SeededRandom(seed: 1975)
        for _ in 0..<3000 {
            func text(_ length: ClosedRange<Int>) -> [UInt8] {
                (0..<Int.random(in: length, using: &random)).map { _ in UInt8.random(in: 97...99, using: &random) }
            }
            let secrets = (0..<Int.random(in: 0...8, using: &random)).map { _ in text(1...6) }
            var finder = TextFinder(limit: 1 << 10)
            for (index, secret) in secrets.enumerated() {
                finder.add(secret)
                if index % 3 == 0 { finder.link() }
            }
            finder.link()
            let searched = text(0...40)
            var isHidden = [Bool](repeating: false, count: searched.count)
            for secret in secrets {
                for start in searched.indices where searched[start...].starts(with: secret) {
                    for index in start..<start + secret.count { isHidden[index] = true }
                }
            }
            var found = [Bool](repeating: false, count: searched.count)
            for range in finder.ranges(in: searched) { for index in range { found[index] = true } }
            #expect(found == isHidden, "\(secrets) in \(searched)")
            #expect(finder.longest == secrets.map(\.count).max() ?? 0)
            #expect(!finder.isFull)
        }
    }

    @Test func `Texts beyond the limit are left out, known ones are not`() {
        var finder = TextFinder(limit: 8)
        finder.add("secret".utf8)
        finder.add("secret".utf8)
        #expect(!finder.isFull)
        finder.add("other".utf8)
        #expect(finder.isFull)
        finder.link()
        #expect(finder.ranges(in: Array("a secret other".utf8)) == [2..<8])
    }
}
