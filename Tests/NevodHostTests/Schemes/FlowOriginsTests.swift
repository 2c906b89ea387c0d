import NevodTestSupport
import Testing

@testable import NevodHost

/// An issuer's metadata adds origins that a flow may send to, so its meaning must be unambiguous.
struct FlowOriginsTests {
    private static let issuer = "https://issuer.example"

    /// The origins that a metadata document adds to the issuer's own.
    private func added(_ body: [UInt8], status: Int = 200) throws -> [String] {
        let scheme = try TestPlugin.flow.get().scheme()
        var origins = FlowOrigins([("issuer", .text(Self.issuer))], of: scheme)
        #expect(origins.allowed.map(\.description) == [Self.issuer])
        origins.learn(
            from: FlowResponse(
                status: status, headers: HTTPHeaders(), body: body,
                url: "\(Self.issuer)/.well-known/openid-configuration"))
        return origins.allowed.dropFirst().map(\.description)
    }

    @Test(arguments: [
        ("https://hooks.example/T0/secret?k=v", "https://hooks.example"), ("http://h:8080/#x", "http://h:8080"),
        ("https://h?secret", "https://h"), ("https://h", "https://h"), ("https://[::1]:8443/x", "https://[::1]:8443"),
    ])
    func `A secret URL counts as its origin, and shows nothing more`(url: String, origin: String) throws {
        let scheme = try TestPlugin.flow.get().scheme()
        let origins = FlowOrigins([("url", .secret(Secret(url)))], of: scheme)
        #expect(origins.allowed.map(\.description) == [origin])
        #expect(!"\(origins)".contains("secret") || !url.contains("secret"))
        let instance = try scheme.makeInstance(settings: ["url": .secret(Secret(url))])
        #expect(instance.purpose.origins == [origin])
    }

    @Test func `A secret issuer's metadata adds origins`() throws {
        let scheme = try TestPlugin.flow.get().scheme()
        var origins = FlowOrigins([("issuer", .secret(Secret("\(Self.issuer)/tenant")))], of: scheme)
        let body = #"{"issuer":"\#(Self.issuer)/tenant","token_endpoint":"https://a.example/token"}"#
        origins.learn(
            from: FlowResponse(
                status: 200, headers: HTTPHeaders(), body: Array(body.utf8),
                url: "\(Self.issuer)/tenant/.well-known/openid-configuration"))
        #expect(origins.allowed.map(\.description) == [Self.issuer, "https://a.example"])
    }

    /// RFC 8705 §5: the endpoints for clients with a certificate may be elsewhere.
    @Test(arguments: [
        (#"{"token_endpoint":"https://mtls.example/token"}"#, ["https://mtls.example"]),
        (#"{"token_endpoint":"http://mtls.example/token","x":"https://b.example/"}"#, []),
        (#"["token_endpoint","https://mtls.example/token"]"#, []),
        (#"{"mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example/token"}}"#, []),
    ])
    func `Metadata adds the origins of aliases for mutual TLS`(_ aliases: String, _ origins: [String]) throws {
        #expect(try added(Array(#"{"issuer":"\#(Self.issuer)","mtls_endpoint_aliases":\#(aliases)}"#.utf8)) == origins)
    }

    private static let documents = [
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/token"}"#,
        #"{"issuer":"https://issuer.example","jwks_uri":"https://a.example/keys","x_endpoint":7,"y":"https://b.example"}"#,
        // Escapes are decoded, in names and in values.
        #"{"issuer":"\u0068ttps://issuer.example","token_endpoint":"\u0068ttps://a.example/token"}"#,
        #"{"\u0069ssuer":"https:\/\/issuer.example","token\u005fendpoint":"https://\u0061.example/token"}"#,
        // Repeated members: the first, the last or none could count.
        #"{"issuer":"https://issuer.example","issuer":"https://evil.example","token_endpoint":"https://a.example/"}"#,
        #"{"issuer":"https://evil.example","issuer":"https://issuer.example","token_endpoint":"https://a.example/"}"#,
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/","token_endpoint":"https://b.example/"}"#,
        #"{"issuer":"https://issuer.example","\u0069ssuer":"https://issuer.example","token_endpoint":"https://a.example/"}"#,
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/","x":[{"y":1,"y":1}]}"#,
        // The issuer is not at the top level.
        #"{"x":{"issuer":"https://issuer.example"},"token_endpoint":"https://a.example/"}"#,
        #"["issuer","https://issuer.example","token_endpoint","https://a.example/"]"#,
        #"{"issuer":["https://issuer.example"],"token_endpoint":"https://a.example/"}"#,
        // Not JSON, or more than JSON.
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/""#,
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/",}"#,
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/"} {}"#,
        #"{"issuer":"https://issuer.example","token_endpoint":"https://a.example/","x":"\q"}"#,
        #"{"issuer":"https://issuer.example","x":1 "token_endpoint":"https://a.example/"}"#,
    ]

    @Test func `Metadata adds the origins that Python reads from it, if no member is repeated`() throws {
        let script = """
            import json, sys
            def unique(members):
                if len({name for name, _ in members}) < len(members): raise ValueError
                return dict(members)
            for text in sys.argv[1:]:
                found = []
                try:
                    document = json.loads(text, object_pairs_hook=unique)
                    if isinstance(document, dict) and document.get("issuer") == "https://issuer.example":
                        for name, value in document.items():
                            if (name.endswith("_endpoint") or name == "jwks_uri") and isinstance(value, str):
                                found.append("/".join(value.split("/")[:3]))
                except ValueError: pass
                print(",".join(found) or "-")
            """
        let expected = try Command.python(script, Self.documents)
        #expect(expected.count == Self.documents.count)
        #expect(expected.count { $0 != "-" } == 4)
        for (document, origins) in zip(Self.documents, expected) {
            #expect(try added(Array(document.utf8)) == (origins == "-" ? [] : [origins]), "\(document)")
        }
    }

    @Test func `Metadata that is no valid UTF-8, has an unpaired surrogate, or is nested deeply adds nothing`() throws {
        func document(_ more: [UInt8]) -> [UInt8] {
            Array(#"{"issuer":"\#(Self.issuer)","token_endpoint":"https://a.example/","x":"#.utf8) + more + [UInt8(ascii: "}")]
        }
        let nested = { (depth: Int) in Array(repeatElement(UInt8(ascii: "["), count: depth)) }
        #expect(try added(document(Array("[]".utf8))) == ["https://a.example"])
        #expect(try added(document([0x22, 0xFF, 0x22])) == [])
        #expect(try added(document([0x22, 0xED, 0xA0, 0x80, 0x22])) == [])
        #expect(try added(document(Array(#""\ud800""#.utf8))) == [])
        #expect(try added(document(Array(#""\udc00\ud800""#.utf8))) == [])
        #expect(try added(document(nested(100) + Array(repeatElement(UInt8(ascii: "]"), count: 100)))) == [])
        #expect(try added(document(nested(500_000))) == [])
        #expect(try added(document(Array("[]".utf8)), status: 404) == [])
    }
}
