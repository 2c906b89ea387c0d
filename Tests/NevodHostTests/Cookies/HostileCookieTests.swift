import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Arbitrary bytes from a server or a file.
struct HostileCookieTests {
    private static let words: [[UInt8]] =
        [
            "=", ";", "; ", "\t", " ", "a", "id", "\"", ",", "Domain=", "domain", "Path=", "/", "..", "%2e", "Max-Age=", "-", "1",
            "99999999",
            "Expires=", "Wed, 09 Jun 2100 10:18:14 GMT", "Secure", "HttpOnly", "SameSite=", "lax", "__Host-", "__Secure-",
            "www.example.com", ".example.com", "example.com", "com", "co.uk", "127.0.0.1", "\r", "\n", "\u{0}", "\u{7F}", "ä",
            "\u{301}",
            "TRUE", "FALSE", "0", "#HttpOnly_", "# ", "xn--", "9223372036854775808",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xF0, 0x9F]]

    private func bytes(_ random: inout SeededRandom) -> [UInt8] {
        (0..<Int.random(in: 0..<16, using: &random)).flatMap { _ in
            Bool.random(using: &random)
                ? Self.words.randomElement(using: &random) ?? [] : [UInt8.random(in: .min ... .max, using: &random)]
        }
    }

    @Test func `Every cookie parsed from random bytes can be stored and sent`() throws {
        var random = SeededRandom(seed: 6265)
        let requests = try ["https://www.example.com/a/b", "http://www.example.com/", "http://127.0.0.1/x", "https://a.co.uk/"]
            .map(get)
        var parsed = 0
        for _ in 0..<20_000 {
            let request = try #require(requests.randomElement(using: &random))
            let line = String(decoding: (Bool.random(using: &random) ? Array("a=".utf8) : []) + bytes(&random), as: UTF8.self)
            guard let cookie = Cookie(setCookie: line, from: request, now: cookieTime) else { continue }
            parsed += 1
            let host = request.origin.host
            #expect(cookie.isHostOnly ? cookie.domain == host : CookieScope.host(host, matches: cookie.domain), "\(line)")
            #expect(cookie.isHostOnly || !["com", "co.uk"].contains(cookie.domain), "\(line)")
            #expect(!cookie.isSecure || request.origin.scheme == .https, "\(line)")
            var read = try CookieFile.decode(CookieFile.encode([cookie]))
            #expect(read.count == 1)
            #expect(
                read.allSatisfy { $0.name == cookie.name && $0.value == cookie.value && $0.expires == cookie.expires }, "\(line)")
            var sent = request
            try sent.setCookies(read)
            read.append(cookie)
            try sent.setCookies(read)
            #expect(sent.headers["Cookie"]?.utf8.elementsEqual([cookie, cookie].cookieLine.utf8) == true, "\(line)")
        }
        #expect(parsed > 1000)
    }

    /// Valid lines with a few changes, which come closer to the rules than random bytes do.
    private static let lines = [
        "__Host-id=1; Secure; Path=/", "__Secure-id=1; Secure; Domain=example.com", "id=1; Domain=.example.com; Path=/a",
        "id=\"x\"; Max-Age=60; HttpOnly; SameSite=Lax", "a=b; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Secure",
        "id=1; Domain=127.0.0.1",
        "id=1; Path=/a/b; Domain=www.example.com; Secure", "__host-id=; secure; path=/; domain=www.example.com",
    ].map { Array($0.utf8) }

    private func mutated(_ line: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var line = line
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let start = Int.random(in: 0...line.count, using: &random)
            let end = min(line.count, start + Int.random(in: 0...6, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: line.removeSubrange(start..<end)
            case 1: line.insert(contentsOf: line[start..<end], at: Int.random(in: 0...line.count, using: &random))
            case 2: line.insert(contentsOf: Self.words.randomElement(using: &random) ?? [], at: start)
            case 3: if start < line.count { line[start] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            default: line.append(contentsOf: Array("; ".utf8) + (Self.lines.randomElement(using: &random) ?? []))
            }
        }
        return line
    }

    @Test func `No changed line sets a cookie beyond its rights`() throws {
        var random = SeededRandom(seed: 20_000)
        let requests = try [
            "https://www.example.com/a/b", "http://www.example.com/", "https://127.0.0.1/x", "https://[::1]/",
            "https://github.io/",
            "https://a.co.uk/",
        ].map(get)
        let others = try [
            "https://other.example/", "https://example.com/", "http://example.com/", "https://me.github.io/", "https://b.co.uk/",
        ]
        .map(get)
        var (jar, parsed, prefixed) = (CookieJar(), 0, 0)
        for _ in 0..<20_000 {
            let request = try #require(requests.randomElement(using: &random))
            let text = String(decoding: mutated(try #require(Self.lines.randomElement(using: &random)), &random), as: UTF8.self)
            jar.store(setCookieLinesOf: response(setting: [text]), from: request, now: cookieTime)
            guard let cookie = Cookie(setCookie: text, from: request, now: cookieTime) else { continue }
            parsed += 1
            let (isTLS, host) = (request.origin.scheme == .https, request.origin.host)
            #expect(isTLS || !cookie.isSecure, "\(text)")
            #expect(cookie.domain == host || !cookie.isHostOnly && host.hasSuffix(".\(cookie.domain)"), "\(text)")
            #expect(
                !cookie.name.isEmpty && cookie.name.utf8.count + cookie.value.utf8.count <= 4096 && cookie.path.hasPrefix("/"),
                "\(text)")
            let name = cookie.name.lowercased()
            if name.utf8.starts(with: "__host-".utf8) {
                prefixed += 1
                #expect(cookie.isSecure && cookie.isHostOnly && cookie.path == "/" && cookie.domain == host, "\(text)")
                let domains = text.utf8.split(separator: UInt8(ascii: ";")).dropFirst().compactMap { attribute -> String? in
                    let name = attribute.prefix { $0 != UInt8(ascii: "=") }
                    guard name.withoutSpaceAround.lowercased() == "domain" else { return nil }
                    return attribute[name.endIndex...].dropFirst().withoutSpaceAround
                }
                #expect(domains.allSatisfy { $0.isEmpty || $0 == "." || $0.utf8.count > 1024 }, "\(text)")
            }
            if name.utf8.starts(with: "__secure-".utf8) { #expect(cookie.isSecure, "\(text)") }
            for other in others where cookie.matches(other) {
                #expect(other.origin.host == host || !cookie.isHostOnly && other.origin.host.hasSuffix(cookie.domain), "\(text)")
                #expect(other.origin.scheme == .https || !cookie.isSecure, "\(text)")
            }
        }
        #expect(parsed > 2000 && prefixed > 200, "\(parsed), \(prefixed)")
        let counts = jar.reduce(into: [:]) { $0[$1.domain, default: 0] += 1 }
        #expect(counts.values.allSatisfy { $0 <= 50 } && Array(jar).count <= 3000)
    }

    @Test func `Random bytes are read as a cookie file, or refused`() {
        var random = SeededRandom(seed: 4096)
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            let fields = ["h", "FALSE", "/", "TRUE", "0", "a", "b"].map { field in
                Int.random(in: 0..<8, using: &random) > 0 ? Array(field.utf8) : bytes(&random)
            }
            let file = Array(fields.joined(separator: [9])) + [10] + (Bool.random(using: &random) ? [] : bytes(&random))
            do throws(CookieFileError) {
                let cookies = try CookieFile.decode(file)
                read += 1
                #expect((try? CookieFile.decode(CookieFile.encode(cookies)))?.count == cookies.count)
            } catch {
                refused += 1
                #expect(error.line >= 1)
            }
        }
        #expect(read > 1000)
        #expect(refused > 1000)
    }

    @Test func `Random bytes are a valid date, or none`() {
        var random = SeededRandom(seed: 511)
        for _ in 0..<20_000 {
            let text = String(decoding: bytes(&random) + Array(" 1 Jan 2020 0:0:0".utf8), as: UTF8.self)
            if let time = CookieDate.unixSeconds(text) { #expect(time > .min) }
        }
    }
}
