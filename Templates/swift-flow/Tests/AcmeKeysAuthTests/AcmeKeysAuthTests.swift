import AcmeKeysAuth
import NevodPluginTesting
import Testing

@Suite struct AcmeKeysAuthTests {
    private let plugin = TestedPlugin(nevod_plugin_v1())
    private let token = TestToken(#"{"access": "a1", "renewal": "r1", "seconds": 60}"#)

    private func scheme() throws -> TestedScheme {
        try plugin.scheme("acme-keys", settings: ["server": "https://id.example.com/"], clock: .fixed(1000))
    }

    @Test func `A login posts the answers and issues the server's token`() throws {
        let server = ScriptedServer([
            .expect("POST", "/login", containing: ["user=ada", "password=a%26b"], TestResponse(200, body: token.text))
        ])
        let login = try scheme().run(.login, with: server, answers: ["user": "ada", "password": "a&b"])
        #expect(login.token == TestToken(token.text, expiresAt: 1060))
    }

    @Test func `A refresh exchanges the renewal`() throws {
        let server = ScriptedServer([
            .expect("POST", "/renew", containing: ["renewal=r1"], TestResponse(200, body: token.text))
        ])
        #expect(try scheme().run(.refresh, with: server, token: token).token?.expiresAt == 1060)
    }

    @Test func `A refused renewal asks for a login`() throws {
        let server = ScriptedServer([.expect("POST", "/renew", TestResponse(403))])
        let failure = #expect(throws: TestFailure.self) { try scheme().run(.refresh, with: server, token: token) }
        #expect(failure?.status == Int32(NEVOD_BAD_TOKEN))
    }

    @Test func `A logout revokes the renewal`() throws {
        let server = ScriptedServer([.expect("POST", "/logout", containing: ["renewal=r1"], TestResponse(204))])
        try scheme().run(.logout, with: server, token: token)
    }

    @Test func `A request carries the access token`() throws {
        let signed = try scheme().authorize(TestRequest("GET", "https://api.example.com/orders"), token: token)
        #expect(signed.headers["Authorization"] == "Bearer a1")
    }
}
