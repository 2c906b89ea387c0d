import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Waiting for a user on another device, at a server that fails.
struct OAuthDeviceTests {
    private static let code = ScriptedServer.Response.json(
        #"{"device_code":"d","user_code":"AB","verification_uri":"https://h/","expires_in":10,"interval":5}"#)

    /// Returns the error of a wait during which the server gives these responses in turn. It repeats the last one until the code
    /// expires.
    private func failure(_ responses: [ScriptedServer.Response]) async throws -> (error: OAuthError?, polls: Int) {
        let rest = Locked(responses)
        let server = try ScriptedServer { request in
            guard request.target == "/t" else { return Self.code }
            return rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
        let client = try OAuthClient(
            server: OAuthServer(tokenEndpoint: "\(server.url)/t", deviceAuthorizationEndpoint: "\(server.url)/d"), clientID: "app"
        )
        let device = try await client.deviceAuthorization()
        let clock = ManualClock()
        let isFinished = Locked(false)
        let wait = Task {
            defer { isFinished.withLock { $0 = true } }
            return try await client.token(for: device, clock: clock)
        }
        for _ in 0..<2 {
            #expect(await eventually { clock.sleepers == 1 || isFinished.withLock(\.self) })
            clock.advance(by: .seconds(5))
        }
        let error = await #expect(throws: OAuthError.self) { try await wait.value }
        return (error, server.requests.count - 1)
    }

    @Test(arguments: [301, 302, 307, 401, 404, 405, 410])
    func `An endpoint that is none of OAuth is asked once`(status: Int) async throws {
        let (error, polls) = try await failure([ScriptedServer.Response(status: status, body: "<html>")])
        #expect(error?.status == status)
        #expect(error?.serverCode == nil)
        #expect(polls == 1)
    }

    @Test(arguments: [503, 429, 200, 400])
    func `A code that expires at a server that fails says what failed`(status: Int) async throws {
        let (error, polls) = try await failure([ScriptedServer.Response(status: status, body: "<html>")])
        #expect(error?.code == .refused)
        #expect(error?.serverCode == .expiredToken)
        #expect(error?.status == status)
        #expect(error?.description.contains("(status \(status))") == true)
        #expect(polls == 2)
    }

    @Test func `A failure that has passed is not told`() async throws {
        let pending = ScriptedServer.Response(status: 400, body: #"{"error":"authorization_pending"}"#)
        let (error, polls) = try await failure([ScriptedServer.Response(status: 503), pending])
        #expect(error?.serverCode == .expiredToken)
        #expect(error?.description.contains("503") == false)
        #expect(polls == 2)
    }
}
