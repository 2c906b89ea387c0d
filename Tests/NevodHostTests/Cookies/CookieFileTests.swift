import NevodTestSupport
import Testing

@testable import NevodHost

/// The format of the cookie file, compared with the programs that define it.
struct CookieFileTests {
    private func decoded(_ lines: String...) throws -> [Cookie] {
        try CookieFile.decode(Array(lines.joined(separator: "\n").utf8))
    }

    private func sample() throws -> CookieJar {
        try jar(
            from: "https://www.example.com/", "plain=1; Max-Age=100000000000", "wide=2; Domain=example.com", "hidden=3; HttpOnly",
            "secure=4; Secure", "deep=5; Path=/a/b", "quoted=\"x, y\"", "equals=a==b", "empty=",
            "both=6; HttpOnly; Domain=example.com",
            "soon=7; Max-Age=3600")
    }

    @Test func `A token encodes to a Netscape cookie file`() throws {
        let text = String(decoding: CookieFile.encode(Array(try sample())), as: UTF8.self)
        #expect(
            text == """
                # Netscape HTTP Cookie File
                www.example.com\tFALSE\t/\tFALSE\t9223372036\tplain\t1
                .example.com\tTRUE\t/\tFALSE\t0\twide\t2
                #HttpOnly_www.example.com\tFALSE\t/\tFALSE\t0\thidden\t3
                www.example.com\tFALSE\t/\tTRUE\t0\tsecure\t4
                www.example.com\tFALSE\t/a/b\tFALSE\t0\tdeep\t5
                www.example.com\tFALSE\t/\tFALSE\t0\tquoted\t"x, y"
                www.example.com\tFALSE\t/\tFALSE\t0\tequals\ta==b
                www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
                #HttpOnly_.example.com\tTRUE\t/\tFALSE\t0\tboth\t6
                www.example.com\tFALSE\t/\tFALSE\t1700003600\tsoon\t7

                """)
    }

    @Test func `A written file is read back in its order`() throws {
        var cookies = Array(try sample())
        for index in cookies.indices { cookies[index].creation = cookieTime + .seconds(index) }
        var read = try CookieFile.decode(CookieFile.encode(cookies.reversed()))
        #expect(read.map(\.creation) == read.map(\.creation).sorted())
        for index in read.indices { read[index].creation = cookies[index].creation }
        #expect(read == cookies)
    }

    @Test func `An expired cookie doesn't become a session cookie`() throws {
        let cookie = try #require(Cookie(name: "a", value: "b", domain: "h", expires: UnixTime(nanoseconds: 0)))
        let read = try CookieFile.decode(CookieFile.encode([cookie]))
        #expect(read.map { $0.isExpired(at: cookieTime) } == [true])
    }

    @Test func `Comments and empty lines are passed over`() throws {
        #expect(try decoded("", "# x", "#\t\t\t\t\t\t", "h\tFALSE\t/\tFALSE\t0\ta\tb", "").map(\.value) == ["b"])
        #expect(try decoded("").isEmpty)
    }

    @Test(arguments: [
        "hidden", "h\tFALSE\t/\tFALSE\t0\ta", "h\tFALSE\t/\tFALSE\t0\ta\thidden\tx", "h\tYES\t/\tFALSE\t0\ta\thidden",
        "h\tFALSE\t/\tfalse\t0\ta\thidden", "h\tFALSE\tx\tFALSE\t0\ta\thidden", "h\tFALSE\t/\tFALSE\t\ta\thidden",
        "h\tFALSE\t/\tFALSE\t1e9\ta\thidden", "h\tFALSE\t/\tFALSE\t99999999999999999999\ta\thidden",
        "\tFALSE\t/\tFALSE\t0\ta\thidden", "h\tFALSE\t/\tFALSE\t0\t\thidden", "h\tFALSE\t/\tFALSE\t0\ta\thidden\r",
        "#HttpOnly_", "h\tFALSE\t/\tFALSE\t0\ta\thid;den",
    ])
    func `The error for a malformed line has its number, and not its text`(line: String) throws {
        let error = #expect(throws: CookieFileError.self) { try decoded("# one", "", line) }
        #expect(error == CookieFileError(line: 3))
        #expect("\(try #require(error))".hasPrefix("line 3 of the cookie file"))
    }

    @Test func `The error for a line that isn't UTF-8 has its number`() {
        #expect(throws: CookieFileError(line: 2)) { try CookieFile.decode(Array("# one\n".utf8) + [0x61, 0xFF]) }
    }

    @Test func `Python reads the file`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("cookies", CookieFile.encode(Array(try sample())))
        let script = """
            import sys, http.cookiejar
            jar = http.cookiejar.MozillaCookieJar(sys.argv[1])
            jar.load(ignore_discard=True, ignore_expires=True)
            for c in jar: print(c.name, c.value, c.domain, c.domain_specified, c.path, c.secure, c.expires, c.has_nonstandard_attr("HTTPOnly"))
            """
        // Python 3.11 reads an empty value as a name without one.
        let expected = try sample().filter { $0.name != "empty" }.map { cookie in
            let fields: [String] = [
                cookie.name, cookie.value, (cookie.isHostOnly ? "" : ".") + cookie.domain, cookie.isHostOnly ? "False" : "True",
                cookie.path, cookie.isSecure ? "True" : "False", "\(cookie.expires?.seconds ?? 0)",
                cookie.isHTTPOnly ? "True" : "False",
            ]
            return fields.joined(separator: " ")
        }
        let read = try Command.python(script, [path]).filter { !$0.hasPrefix("empty") }
        #expect(Set(read) == Set(expected))
    }

    /// Compares every decision about every cookie of the file with curl's, except where curl 7.88 departs from RFC 6265: it
    /// treats the path `/a/` as `/a`, and doesn't treat `%2e` as a dot.
    @Test func `curl reads the file, and sends the same cookies`() throws {
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let line = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("cookie:") }
                let body = "\(line.map(String.init) ?? "cookie:")\n"
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let port = server.authority.split(separator: ":")[1]
        var cookies = Array(try sample())
        let scopes = [("example.com", "/a"), ("other.com", "/"), ("a.www.example.com", "/")]
        for ((domain, path), isHostOnly) in pairs(scopes, [true, false]) {
            cookies.append(
                try #require(
                    Cookie(name: "x\(cookies.count)", value: "y", domain: domain, isHostOnly: isHostOnly, path: path)))
        }
        cookies.append(try #require(Cookie(name: "old", value: "y", domain: "example.com", expires: UnixTime(seconds: 5))))
        let token = CookieToken(sessionCookies: cookies)
        let hosts = ["www.example.com", "example.com", "a.www.example.com", "badexample.com", "other.com", "www.other.com"]
        let paths = ["/", "/a", "/a/", "/a/b", "/a/bc", "/ab", "/a/b/c?d", "/a/../x"]
        let urls = hosts.flatMap { host in paths.map { "http://\(host):\(port)\($0)" } }
        let folder = try TemporaryFolder()
        let file = try folder.write("cookies", token.encode())
        let output = try Command.output(
            ["curl", "-q", "-s", "--noproxy", "*", "-b", file] + hosts.flatMap { ["--resolve", "\($0):\(port):127.0.0.1"] } + urls
        )
        let sentByCurl = output.split(separator: "\n").map { line in
            Set(line.dropFirst("cookie:".count).split(separator: ";").map { $0.drop { $0 == " " } }.map(String.init))
        }
        let sent = try urls.map { url in
            var request = try get(url)
            try token.authorize(&request)
            return Set((request.headers["Cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }.map(String.init))
        }
        try #require(sentByCurl.count == urls.count)
        for (index, url) in urls.enumerated() { #expect(sent[index] == sentByCurl[index], "\(url)") }
        #expect(sent.contains { $0.count > 8 })
    }

    @Test func `The file that curl writes is read`() throws {
        let server = try RawServer.responding(
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=\"1, 2\"; HttpOnly; Path=/x\r\nSet-Cookie: b=2; Domain=example.com; Max-Age=4000\r\n"
                + "Content-Length: 0\r\n\r\n")
        let port = server.authority.split(separator: ":")[1]
        let text = try Command.output([
            "curl", "-q", "-s", "--noproxy", "*", "-c", "-", "--resolve", "www.example.com:\(port):127.0.0.1",
            "http://www.example.com:\(port)/",
        ])
        let cookies = try CookieToken.decode(from: Array(text.utf8)).sessionCookies.sorted { $0.name < $1.name }
        #expect(
            cookies.map { "\($0)" } == [
                "a=[redacted]; Domain=www.example.com; Path=/x; host only", "b=[redacted]; Domain=example.com; Path=/",
            ])
        #expect(cookies.map(\.value) == ["\"1, 2\"", "2"])
        #expect(cookies.map(\.isHTTPOnly) == [true, false])
        #expect(cookies.map { $0.expires == nil } == [true, false])
    }
}
