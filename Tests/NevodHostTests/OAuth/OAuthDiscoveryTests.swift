import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct OAuthDiscoveryTests {
    private static let oauth = "/.well-known/oauth-authorization-server"
    private static let large = #"{"issuer":"SELF","token_endpoint":"SELF/t","x":"\#(String(repeating: "x", count: 1 << 20))"}"#
    private static let connect = "/.well-known/openid-configuration"

    /// A server with one document, in which `SELF` is replaced with the server's URL.
    private func server(_ path: String, _ document: String, status: Int = 200, otherwise: Int = 404) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard request.target == path else { return ScriptedServer.Response(status: otherwise) }
            let url = "http://\(request["Host"] ?? "")"
            return ScriptedServer.Response(status: status, body: document.replacing("SELF", with: url))
        }
    }

    @Test(arguments: [
        ("", oauth), ("", connect), ("/tenant/1", "\(oauth)/tenant/1"), ("/tenant/1", "/tenant/1\(connect)"), ("/", oauth),
        ("/", connect),
    ])
    func `An issuer's endpoints are found in either document`(path: String, location: String) async throws {
        let server = try server(
            location,
            #"""
            {"issuer":"SELF\#(path)","token_endpoint":"SELF/t","authorization_endpoint":"https://h/a","revocation_endpoint":"SELF/r",
            "device_authorization_endpoint":"SELF/d","authorization_response_iss_parameter_supported":true}
            """#
        )
        let found = try await OAuthServer.discover(issuer: server.url + path)
        #expect(
            try found
                == OAuthServer(
                    tokenEndpoint: "\(server.url)/t", authorizationEndpoint: "https://h/a",
                    deviceAuthorizationEndpoint: "\(server.url)/d", revocationEndpoint: "\(server.url)/r",
                    issuer: server.url + path, namesIssuer: true))
    }

    @Test(arguments: [
        #"{"issuer":"https://other.example.com","token_endpoint":"SELF/t"}"#, #"{"issuer":"SELF/","token_endpoint":"SELF/t"}"#,
        #"{"issuer":1,"token_endpoint":"SELF/t"}"#, #"{"issuer":"SELF"}"#,
        #"{"issuer":"SELF","token_endpoint":"http://other.example.com/t"}"#,
        #"{"issuer":"SELF","token_endpoint":"javascript:alert(1)"}"#,
        #"{"issuer":"SELF","token_endpoint":"SELF/t","revocation_endpoint":"http://other.example.com/r"}"#,
    ])
    func `Metadata of another issuer, or with endpoints that can't be trusted, are refused`(document: String) async throws {
        let server = try server(Self.oauth, document, otherwise: 200)
        let error = await #expect(throws: OAuthError.self) { try await OAuthServer.discover(issuer: server.url) }
        #expect(error?.code == .invalidMetadata)
        // The other document doesn't get around this.
        #expect(server.requests.map(\.target) == [Self.oauth])
    }

    @Test(arguments: [
        (404, "", OAuthError.Code.invalidMetadata), (503, "", .unavailable), (429, "", .unavailable),
        (200, "<html>", .unavailable),
        (302, "", .unavailable), (200, #"{"issuer":"SELF","issuer":"SELF","token_endpoint":"SELF/t"}"#, .unavailable),
        (200, large, .unavailable),
    ])
    func `Metadata that can't be read now may be read later`(status: Int, body: String, code: OAuthError.Code) async throws {
        let server = try server(Self.oauth, body, status: status)
        let error = await #expect(throws: OAuthError.self) { try await OAuthServer.discover(issuer: server.url) }
        #expect(error?.code == code)
        #expect(server.requests.map(\.target) == [Self.oauth, Self.connect])
    }

    @Test func `The metadata are read once, when a request first needs them, and again after a failure`() async throws {
        let box = Box()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .json(#"{"access_token":"a"}"#) }
            if box.isAway.withLock(\.self) { return ScriptedServer.Response(status: 503) }
            let url = "http://\(request["Host"] ?? "")"
            return .json(#"{"issuer":"\#(url)","token_endpoint":"\#(url)/t"}"#)
        }
        let client = try OAuthClient(issuer: server.url, clientID: "app")
        #expect(server.requests.isEmpty)
        let error = await #expect(throws: OAuthError.self) { try await client.clientCredentials() }
        #expect(error?.isTransient == true)
        box.isAway.withLock { $0 = false }
        let before = server.requests.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await client.clientCredentials() } }
            try await group.waitForAll()
        }
        #expect(server.requests.dropFirst(before).filter { $0.method == "GET" }.count == 1)
        #expect(try await client.server().issuer == server.url)
    }

    private final class Box: Sendable {
        let isAway = Locked(true)
    }

    @Test(
        arguments: [
            (#"["plain","S256"]"#, true), (nil, true), ("null", true), (#"["plain"]"#, false), ("[]", true),
            (#"["s256"]"#, false),
        ] as [(String?, Bool)])
    func `A server that lists no S256 is refused before a browser is opened`(methods: String?, isAccepted: Bool) async throws {
        let list = methods.map { #","code_challenge_methods_supported":\#($0)"# } ?? ""
        let server = try server(
            Self.oauth,
            #"{"issuer":"SELF","token_endpoint":"SELF/t","authorization_endpoint":"SELF/a","access_token":"a"\#(list)}"#)
        let client = try OAuthClient(issuer: server.url, clientID: "app")
        let login = OAuthLogin(redirectURI: "app:/")
        guard !isAccepted else {
            _ = try await client.authorizationURL(for: login)
            return
        }
        let error = await #expect(throws: OAuthError.self) { try await client.authorizationURL(for: login) }
        #expect(error?.code == .invalidMetadata)
        #expect(error?.description.contains("S256") == true)
        // The other grants need no challenge.
        #expect(try await client.server().tokenEndpoint == "\(server.url)/t")
    }

    @Test func `An issuer has no query and no fragment`() async {
        for issuer in ["https://h/?x", "https://h/#x", "http://h/"] {
            let error = await #expect(throws: OAuthError.self) { try await OAuthServer.discover(issuer: issuer) }
            #expect(error?.code == .invalidSetting)
        }
    }
}
