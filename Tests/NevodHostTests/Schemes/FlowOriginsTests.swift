import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// An issuer's metadata adds origins to which a flow may send, so its meaning must be unambiguous.
struct FlowOriginsTests {
    private static let issuer = "https://issuer.example"

    /// The origins that a metadata document adds to the issuer's origin.
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

    @Test func `Two spellings of one accented letter are two issuers`() throws {
        let scheme = try TestPlugin.flow.get().scheme()
        var origins = FlowOrigins([("issuer", .text("\(Self.issuer)/caf\u{E9}"))], of: scheme)
        for (spelling, added) in [("cafe\u{301}", 0), ("caf\u{E9}", 1)] {
            let body = #"{"issuer":"\#(Self.issuer)/\#(spelling)","token_endpoint":"https://a.example/"}"#
            origins.learn(
                from: FlowResponse(
                    status: 200, headers: HTTPHeaders(), body: Array(body.utf8),
                    url: "\(Self.issuer)/caf%C3%A9/.well-known/openid-configuration"))
            #expect(origins.allowed.count == 1 + added)
        }
    }

    @Test func `The endpoints for mutual TLS are allowed as the others are`() throws {
        let aliases = #""mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example/token","other":"https://b.example/"}"#
        #expect(try added(Array(#"{"issuer":"\#(Self.issuer)",\#(aliases)}"#.utf8)) == ["https://mtls.example"])
    }

    // MARK: Issuers that a resource names

    private static let resource = "https://api.example/v1"
    private static let resourceMetadata = "https://api.example/.well-known/oauth-protected-resource/v1"

    /// The origins after reading a resource's metadata, and then after reading the issuer's.
    private func allowed(
        by setting: SchemeSettings.Value = .text(resource), _ body: String, at url: String = resourceMetadata, status: Int = 200
    ) throws -> [String] {
        var origins = FlowOrigins([("url", setting)], of: try TestPlugin.flow.get().scheme())
        let own = origins.allowed.count
        let responses = [
            (url, body, status),
            (
                "\(Self.issuer)/.well-known/oauth-authorization-server",
                #"{"issuer":"\#(Self.issuer)","token_endpoint":"https://token.example/"}"#, 200
            ),
        ]
        for (url, body, status) in responses {
            origins.learn(from: FlowResponse(status: status, headers: HTTPHeaders(), body: Array(body.utf8), url: url))
        }
        return origins.allowed.dropFirst(own).map(\.description)
    }

    @Test func `A resource's metadata adds its issuers, and their metadata their endpoints`() throws {
        let body = #"{"resource":"\#(Self.resource)","authorization_servers":["\#(Self.issuer)","http://plain.example",7]}"#
        #expect(try allowed(body) == [Self.issuer, "https://token.example"])
        // A setting may have a trailing slash, which the metadata repeats.
        let slash = body.replacing("/v1", with: "/v1/")
        #expect(try allowed(by: .text("\(Self.resource)/"), slash) == [Self.issuer, "https://token.example"])
    }

    @Test(arguments: [
        (#"{"resource":"https://api.example/v2","authorization_servers":["https://issuer.example"]}"#, resourceMetadata, 200),
        (#"{"resource":"https://api.example/v1/","authorization_servers":["https://issuer.example"]}"#, resourceMetadata, 200),
        (#"{"authorization_servers":["https://issuer.example"]}"#, resourceMetadata, 200),
        (#"{"resource":"https://api.example/v1","authorization_servers":"https://issuer.example"}"#, resourceMetadata, 200),
        (#"{"resource":"https://api.example/v1","authorization_servers":["https://issuer.example"]}"#, resourceMetadata, 404),
        (
            #"{"resource":"https://api.example/v1","authorization_servers":["https://issuer.example"]}"#,
            "https://api.example/.well-known/oauth-protected-resource", 200
        ),
        (
            #"{"resource":"https://api.example/v1","authorization_servers":["https://issuer.example"]}"#,
            "https://other.example/.well-known/oauth-protected-resource/v1", 200
        ),
    ])
    func `Metadata of another resource add nothing`(body: String, url: String, status: Int) throws {
        #expect(try allowed(body, at: url, status: status) == [])
    }

    @Test func `A secret URL is no resource, and an issuer no resource either`() throws {
        let body = #"{"resource":"\#(Self.resource)","authorization_servers":["\#(Self.issuer)"]}"#
        #expect(try allowed(by: .secret(Secret(Self.resource)), body) == [])
        var origins = FlowOrigins([("issuer", .text(Self.resource))], of: try TestPlugin.flow.get().scheme())
        origins.learn(from: FlowResponse(status: 200, headers: HTTPHeaders(), body: Array(body.utf8), url: Self.resourceMetadata))
        #expect(origins.allowed.map(\.description) == ["https://api.example"])
    }

    @Test func `A resource adds sixteen issuers at most`() throws {
        let servers = (0..<100).map { "\"https://a\($0).example\"" }.joined(separator: ",")
        #expect(try allowed(#"{"resource":"\#(Self.resource)","authorization_servers":[\#(servers)]}"#).count == 16)
    }
}
