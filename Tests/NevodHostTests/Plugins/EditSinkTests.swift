import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests what a plugin may write, with a plugin in C that writes its settings' values.
struct EditSinkTests {
    private func authorized(_ edits: [String], returnsStatus: Bool = false, _ url: String = "http://h/p?q=1") throws
        -> HTTPRequest
    {
        var settings: SchemeSettings = ["returns-status": .text("\(returnsStatus)")]
        for edit in edits { settings.add("edit", .text(edit)) }
        var request = try HTTPRequest(.get, url)
        try request.addHeader("X-Mine", "1")
        try request.addHeader("Cookie", "mine=1")
        try TestPlugin.edits.get().scheme().makeInstance(settings: settings).authorize(&request, attempt: 1)
        return request
    }

    private func edit(_ operation: String, _ name: String, _ value: String) -> String {
        "\(operation) \(hex(name.utf8)) \(hex(value.utf8))"
    }

    private func refusal(_ edits: [String], returnsStatus: Bool = false) throws -> (what: String, problem: String) {
        let error = try #require(throws: PluginError.self) { try authorized(edits, returnsStatus: returnsStatus) }
        guard case .refusedEdit("edits", let what, let problem) = error.reason else {
            Issue.record("\(error)")
            return ("", "")
        }
        return (what, problem)
    }

    @Test func `Each kind of edit changes the request`() throws {
        let request = try authorized([
            edit("set", "x-mine", "2"), edit("add", "X-New", "a"), edit("add", "X-New", "b"), edit("query", "k&", "ä "),
            edit("cookie", "c", "d=e"), edit("set", "X-Empty", ""),
        ])
        #expect(
            request.headers.map { "\($0.name): \($0.value) (\($0.provenance))" } == [
                "x-mine: 2 (scheme edits)", "Cookie: mine=1; c=d=e (scheme edits)", "X-New: a (scheme edits)",
                "X-New: b (scheme edits)", "X-Empty:  (scheme edits)",
            ])
        #expect(request.target == "/p?q=1&k%26=%C3%A4%20")
        #expect(request.redactedTarget == "/p?q=1&k%26=[redacted: scheme edits]")
        #expect(request.provenance == .caller)
    }

    @Test func `A value of 64 KiB is written, one byte more is not`() throws {
        let request = try authorized(["set \(hex("X-Long".utf8)) *65536"])
        #expect(request.headers["X-Long"]?.utf8.count == 65536)
        let refused = try refusal(["set \(hex("X-Long".utf8)) *65537"])
        #expect(refused == ("the header \"X-Long\"", "its value has 65537 bytes, more than 65536"))
    }

    @Test func `The edits of one call are 256 KiB at most`() throws {
        let name = hex("X-Long".utf8)
        let request = try authorized(["add \(name) *65536", "add \(name) *65536", "add \(name) *65536", "add \(name) *65000"])
        #expect(request.headers.values(of: "X-Long").map(\.utf8.count) == [65536, 65536, 65536, 65000])
        let refused = try refusal(["add \(name) *65536", "add \(name) *65536", "add \(name) *65536", "add \(name) *65536"])
        #expect(refused.problem == "the edits of this call have more than 262144 bytes")
    }

    @Test func `A name of 256 bytes is written, one byte more is not`() throws {
        #expect(try authorized(["set \(hex(repeatElement(97, count: 256))) 61"]).headers.count == 3)
        #expect(try refusal(["set \(hex(repeatElement(97, count: 257))) 61"]).problem == "its name has 257 bytes, more than 256")
    }

    @Test(arguments: [
        "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade", "Expect",
        "Trailer", "hOST", "te", "CONTENT-LENGTH",
    ])
    func `Headers of the transport are refused by name`(name: String) throws {
        for operation in ["set", "add"] {
            let refused = try refusal([edit(operation, name, "x")])
            #expect(refused == ("the header \"\(name)\"", "only the host writes it, because it decides where the request ends"))
        }
    }

    @Test func `Proxy-Authorization is refused on the way to the origin`() throws {
        let refused = try refusal([edit("set", "proxy-AUTHORIZATION", "x")])
        #expect(refused == ("the header \"proxy-AUTHORIZATION\"", "it is meant for a proxy, but the target is the origin"))
    }

    @Test(arguments: ["a\r\nX: y", "\n", "\r", "a\0b", "\u{1}", "\u{7F}"])
    func `A value that could end its line is refused`(value: String) throws {
        for operation in ["set", "add"] {
            let refused = try refusal([edit(operation, "X-A", value)])
            #expect(refused == ("the header \"X-A\"", "its value contains a control character, such as a line break"))
        }
    }

    @Test(arguments: ["", "a b", "a:", "a\r\n", "ä", "a\0"])
    func `A name that is no token is refused`(name: String) throws {
        #expect(try refusal([edit("set", name, "x")]).problem == "its name is not a token (RFC 9110 §5.6.2)")
    }

    @Test(arguments: ["", "a=b", "a;b", "a\r\n", "a\0", "\u{7F}"])
    func `A name that no cookie can have is refused`(name: String) throws {
        #expect(
            try refusal([edit("cookie", name, "x")]).problem
                == "its name contains a byte that is not allowed in cookies (RFC 6265 §5.2)")
    }

    @Test func `A cookie goes back as the server set it, two of one name side by side`() throws {
        let values = ["a, b", "\"q\\\"", "ä", ""]
        let edits = values.map { edit("cookie", "c d", $0) } + [edit("cookie", "mine", "theirs")]
        let scheme = try TestPlugin.edits.get().scheme()
        var settings: SchemeSettings = [:]
        for edit in edits { settings.add("edit", .text(edit)) }
        let instance = try scheme.makeInstance(settings: settings)
        var request = try HTTPRequest(.get, "http://h/p")
        try request.addHeader("Cookie", "mine=1; yours=2")
        for attempt in 1...2 {
            try instance.authorize(&request, attempt: attempt)
            #expect(
                request.headers.values(of: "Cookie") == ["yours=2; c d=a, b; c d=\"q\\\"; c d=ä; c d=; mine=theirs"])
        }
    }

    @Test(arguments: [";", "a; b=c", "\n", "\0", "\u{7F}"])
    func `A value that no cookie can have is refused`(value: String) throws {
        #expect(
            try refusal([edit("cookie", "c", value)]) == (
                "the cookie \"c\"", "its value contains a byte that is not allowed in cookies (RFC 6265 §5.2)"
            ))
    }

    @Test func `An item of the query needs a name, and may hold any byte`() throws {
        #expect(try refusal([edit("query", "", "x")]).problem == "its name is empty")
        #expect(try authorized([edit("query", "\r\n", "\0#&")]).target == "/p?q=1&%0D%0A=%00%23%26")
    }

    @Test func `A refused edit discards the others, and the first refusal is reported`() throws {
        var settings: SchemeSettings = [:]
        for edit in [edit("set", "X-Good", "1"), edit("set", "Host", "x"), edit("set", "TE", "x"), edit("query", "k", "v")] {
            settings.add("edit", .text(edit))
        }
        let instance = try TestPlugin.edits.get().scheme().makeInstance(settings: settings)
        var request = try HTTPRequest(.get, "http://h/p?q=1")
        try request.addHeader("X-Mine", "1")
        let error = try #require(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) }
        #expect("\(error)".contains("the header \"Host\""))
        #expect(request.headers.map { "\($0.name): \($0.value) (\($0.provenance))" } == ["X-Mine: 1 (caller)"])
        #expect(request.target == "/p?q=1")
        #expect(request.addedQueryItems.isEmpty)
    }

    /// nevod_plugin.h: "fails with the host's reason, whatever the plugin returns".
    @Test func `A plugin that returns the refusal's status reports the host's reason`() throws {
        let refused = try refusal([edit("set", "Host", "x")], returnsStatus: true)
        #expect(refused.what == "the header \"Host\"")
    }

    @Test func `Authorizing twice replaces what was set, and adds what was added`() throws {
        let scheme = try TestPlugin.edits.get().scheme()
        var settings: SchemeSettings = [:]
        for edit in [edit("set", "X-A", "1"), edit("query", "k", "v"), edit("cookie", "c", "d")] {
            settings.add("edit", .text(edit))
        }
        let instance = try scheme.makeInstance(settings: settings)
        var request = try HTTPRequest(.get, "http://h/p")
        try instance.authorize(&request, attempt: 1)
        try instance.authorize(&request, attempt: 2)
        #expect(request.headers.map { "\($0.name): \($0.value)" } == ["X-A: 1", "Cookie: c=d"])
        #expect(request.target == "/p?k=v")
    }
}
