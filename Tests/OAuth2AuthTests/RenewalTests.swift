import NevodPluginTesting
import NevodSupport
import Testing

@testable import OAuth2Auth

struct RenewalTests {
    private let client: TestedScheme

    init() throws {
        client = try makeClient(["grant": "client-credentials", "client-secret": "secret"])
    }

    private func login(_ members: [JSONValue.Member] = []) throws -> TestToken {
        let response = TestResponse.json(
            .object([JSONValue.Member("access_token", "A"), JSONValue.Member("token_type", "Bearer")] + members))
        return try #require(try client.run(.login, with: ScriptedServer([.expect("POST", "/token", response)])).token)
    }

    @Test func `Without a refresh token nothing is sent: the host decides whether to log in`() throws {
        let token = try login()
        let failure = try #require(throws: TestFailure.self) { try client.run(.refresh, token: token) }
        #expect("\(failure)".contains("NEVOD_BAD_TOKEN"))
    }

    @Test func `A refused refresh token gives way to a login, if that needs no person`() throws {
        let token = try login([JSONValue.Member("refresh_token", "R")])
        let refusal = TestResponse.json(.object([JSONValue.Member("error", "invalid_grant")]), status: 400)
        let server = ScriptedServer([.expect("POST", "/token", containing: ["grant_type=refresh_token"], refusal)])
        let failure = try #require(throws: TestFailure.self) { try client.run(.refresh, with: server, token: token) }
        #expect("\(failure)".contains("NEVOD_BAD_TOKEN"))
    }
}
