internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    /// Requests that are unusual but may occur.
    static let authorizeRequestChecks: [Check] = [
        .probing("authorize.odd-targets", "authorize survives odd paths and queries") { subject in
            let targets = [
                "", "?", "?a=1", "//", "//other.example/", "/..", "/../../a", "/./a//b/", "/%", "/%zz", "/%2F%00%0D%0A",
                "/a;b=c,d",
                "/a?b?c=d&&=&e=f=g", "/?", "/#a", "/a+b%20c", "/~!$'()*:@", "http://api.example.com/absolute",
            ]
            return try subject.authorizeAll(
                try targets.map { target in
                    var view = try subject.view()
                    view.target = Array(target.utf8)
                    return ("the target \"\(target)\"", view)
                })
        },
        .probing("authorize.long-targets", "authorize survives long paths and queries") { subject in
            let targets = [
                "/" + String(repeating: "a", count: 8191), "/" + String(repeating: "/", count: 8000),
                "/?" + (0..<900).map { "a\($0)=b" }.joined(separator: "&"), "/" + String(repeating: "%41", count: 2700),
            ]
            return try subject.authorizeAll(
                try targets.map { target in
                    var view = try subject.view()
                    view.target = Array(target.utf8)
                    return ("a target of \(target.utf8.count) bytes", view)
                })
        },
        .probing("authorize.hosts", "authorize survives IPv6 and odd hosts") { subject in
            let hosts = [
                "[::1]", "[::1]:8443", "[2001:db8::ffff:192.0.2.1]", "127.0.0.1:65535", "localhost", "a.",
                "xn--mnchen-3ya.example",
                "xn--a", String(repeating: "a.", count: 126) + "b", "_dmarc.example.com", "a-b--c.example:1",
            ]
            return try subject.authorizeAll(try hosts.map { ("the host \($0)", try subject.view("GET", "http://\($0)/a")) })
        },
        .probing("authorize.non-ascii", "authorize survives bytes beyond ASCII") { subject in
            let values: [[UInt8]] = [Array("Grüße, мир, 世界 😀".utf8), [0xFF, 0xFE, 0x80], [0xC0, 0xAF], [0xE2, 0x82]]
            return try subject.authorizeAll(
                try values.flatMap { value in
                    var target = try subject.view()
                    target.target = Array("/a/".utf8) + value
                    let header = try subject.view(headers: [ContractPair("X-Text", value), ContractPair("Content-Type", value)])
                    return [("a header's value beyond ASCII", header), ("a target beyond ASCII", target)]
                })
        },
        .probing("authorize.headers", "authorize survives repeated, empty and long headers") { subject in
            let lists: [(String, [ContractPair])] = [
                ("repeated headers", [ContractPair("X-A", "1"), ContractPair("x-a", "2"), ContractPair("X-A", "3")]),
                ("empty values", [ContractPair("X-Empty", ""), ContractPair("Content-Type", "")]),
                ("spaces and tabs", [ContractPair("X-A", " \t a \t b  "), ContractPair("Accept", ",, ,")]),
                ("a value of 64 KiB", [ContractPair("X-Long", String(repeating: "v", count: 65_536))]),
                ("a name of 256 bytes", [ContractPair(String(repeating: "n", count: 256), "v")]),
                ("a header of its own", [ContractPair("Authorization", "Basic Og=="), ContractPair("Cookie", "a=b; a=c; =; d")]),
                ("odd names", [ContractPair("!#$%&'*+-.^_`|~0a", "v"), ContractPair("AUTHORIZATION", "")]),
            ]
            return try subject.authorizeAll(try lists.map { ($0.0, try subject.view(headers: $0.1)) })
        },
        .probing("authorize.many-headers", "authorize survives a thousand headers") { subject in
            let headers = (0..<1000).map { ContractPair("X-Number-\($0)", "\($0)") }
            return try subject.authorizeAll([("1,000 headers", try subject.view(headers: headers))])
        },
        .probing("authorize.methods", "authorize survives odd methods") { subject in
            let methods = [
                "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "g", "M-SEARCH", "!#$%&'*+-.^_`|~",
                String(repeating: "LONG", count: 64),
            ]
            var cases = try methods.map { ("the method \($0)", try subject.view($0)) }
            var whole = try subject.view("OPTIONS")
            whole.target = Array("*".utf8)
            cases.append(("OPTIONS *", whole))
            return try subject.authorizeAll(cases)
        },
        .probing("authorize.bodies", "authorize survives each kind of body") { subject in
            let bodies: [(String, ContractRequest.Body)] = [
                ("no body", .none), ("a body of zero bytes", .bytes([])), ("a body of one byte", .bytes([0])),
                ("a binary body", .bytes(Array(0...255))), ("JSON", .bytes(Subject.body)),
                ("a form", .bytes(Array("a=1&b=%20&&c".utf8))),
                ("a stream that can be read again", .stream(length: 24, contents: Subject.body)),
                ("a stream without a length that can be read again", .stream(length: nil, contents: Subject.body)),
            ]
            return try subject.authorizeAll(try bodies.map { ($0.0, try subject.view("POST", body: $0.1)) })
        },
        .probing("authorize.huge-body", "authorize survives a body of 16 MiB") { subject in
            let body = [UInt8](repeating: 0x61, count: Int(NEVOD_LIMIT_BODY))
            return try subject.authorizeAll([("a body of 16 MiB", try subject.view("PUT", body: .bytes(body)))])
        },
        .probing("authorize.missing-digests", "authorize survives a stream that has no digests") { subject in
            try subject.authorizeAll([
                ("a stream that can be read once", try subject.view("POST", body: .stream(length: 24, contents: nil))),
                (
                    "a stream without a length that can be read once",
                    try subject.view("POST", body: .stream(length: nil, contents: nil))
                ),
                ("a stream of an exabyte", try subject.view("POST", body: .stream(length: 1 << 60, contents: nil))),
            ])
        },
        .probing("authorize.clock", "authorize survives each time of day") { subject in
            let times: [Int64] = [
                0, 1, 999_999_999, 1_000_000_000, 2_147_483_647_999_999_999, 2_147_483_648_000_000_000, 4_102_444_800_000_000_000,
                4_294_967_296_000_000_000, .max,
            ]
            return try subject.authorizeAll(
                try times.map { time in
                    var view = try subject.view()
                    view.unixTime = time
                    return ("the time \(time / 1_000_000_000) s", view)
                })
        },
        .probing("authorize.states", "authorize survives each state that the scheme has set itself") { subject in
            guard subject.needs.has(NEVOD_NEED_STATE) else { throw CheckStop.skip("the scheme needs no state") }
            let token = subject.credential()
            let nonces = [
                "bm9uY2U0Nzg4", "", " ", "a\\\"b", "a=b,c;d", "é😀", "%00%0D%0A", String(repeating: "n", count: 1000), "0", "-1",
            ]
            var states: [[UInt8]] = []
            for nonce in nonces {
                for target in [Int(NEVOD_TARGET_ORIGIN), Int(NEVOD_TARGET_PROXY)] {
                    let isProxy = target == NEVOD_TARGET_PROXY
                    let name = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
                    var response = ContractResponse(
                        isProxy ? 407 : 401,
                        headers: [
                            ContractPair(name, "Digest realm=\"a\", qop=\"auth\", algorithm=SHA-256, nonce=\"\(nonce)\""),
                            ContractPair(name, "DPoP error=\"use_dpop_nonce\""), ContractPair("DPoP-Nonce", nonce),
                        ], url: Array(Subject.url.utf8))
                    response.targetKind = Int32(target)
                    guard subject.instance.seesResponses else { continue }
                    if let state = subject.respond(token, try subject.view(), response).state, !states.contains(state) {
                        states.append(state)
                    }
                }
            }
            guard !states.isEmpty else { throw CheckStop.skip("the scheme sets no state for a challenge that was tried") }
            return try subject.authorizeAll(
                try states.map { state in
                    var view = try subject.view()
                    view.state = state
                    return ("a state of \(state.count) bytes", view)
                })
        },
        .probing("authorize.attempts", "authorize survives late attempts and high use counts") { subject in
            try subject.authorizeAll(
                try [2, 5, 1_000_000, UInt32.max].map { attempt in
                    var view = try subject.view()
                    view.attempt = attempt
                    if subject.needs.has(NEVOD_NEED_USE_COUNT) { view.useCount = attempt == .max ? .max : UInt64(attempt) }
                    return ("attempt \(attempt)", view)
                })
        },
        .probing("authorize.parameters", "authorize survives any value of its parameters") { subject in
            guard !subject.declaredParameters.isEmpty else { throw CheckStop.skip("the scheme declares no parameters") }
            let values: [[UInt8]] = [[], Array("a b\tc".utf8), Array("ä\"\\,;=".utf8), [UInt8](repeating: 0x61, count: 8000)]
            return try subject.authorizeAll(
                try values.map { value in
                    var view = try subject.view()
                    view.parameters = subject.declaredParameters.map { ContractPair($0.name, value) }
                    return ("parameters of \(value.count) bytes", view)
                })
        },
    ]
}
