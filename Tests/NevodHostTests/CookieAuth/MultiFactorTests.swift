import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a login whose response requires a code.
struct MultiFactorTests {
    /// A server that issues challenges and accepts the code 123456.
    private final class Server: Sendable {
        struct State {
            var challenges = 0
            var codes: [String] = []
            /// Challenges that expire before their code arrives.
            var expired: Set<Int> = []
        }
        private final class Box: Sendable { let value = Locked(State()) }
        private let box = Box()
        private let server: ScriptedServer
        var url: String { server.url }
        var state: State { box.value.withLock { $0 } }
        var requests: [ScriptedServer.Request] { server.requests }
        func expire(_ challenges: Set<Int>) { box.value.withLock { $0.expired = challenges } }

        init(_ member: String = "code", status: Int = 403) throws {
            let box = box
            server = try ScriptedServer { request in
                let body = String(decoding: request.body, as: UTF8.self)
                return box.value.withLock { state in
                    switch request.target {
                    case "/login":
                        state.challenges += 1
                        return .json(
                            status,
                            #"{"\#(member)":"MFA_REQUIRED","sessionId":"s\#(state.challenges)","mfaChallenge":{"type":"totp"}}"#,
                            "Set-Cookie: csrftoken=t\(state.challenges); Path=/")
                    case "/mfa":
                        state.codes.append(body)
                        if state.expired.contains(state.challenges) { return .json(401, #"{"code":"MFA_EXPIRED"}"#) }
                        guard body.contains("123456"), body.contains("s\(state.challenges)") else {
                            return .json(401, #"{"code":"MFA_INVALID"}"#)
                        }
                        return .json(200, #"{"ok":true}"#, "Set-Cookie: sid=1; Path=/")
                    default: return ScriptedServer.Response(status: request["Cookie"]?.contains("sid=1") == true ? 200 : 401)
                    }
                }
            }
        }
    }

    private final class Person: UserInteraction {
        private let codes: Locked<[String]>
        let prompts = Collected<String>()
        init(_ codes: [String]) { self.codes = Locked(codes) }
        func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
            prompts.append(questions.map { "\($0.kind) \($0.name): \($0.prompt)" }.joined(separator: ", "))
            return Dictionary(
                uniqueKeysWithValues: questions.map { question in
                    guard question.kind == .code else { return (question.name, Secret(question.name)) }
                    return (question.name, Secret(codes.withLock { $0.isEmpty ? "000000" : $0.removeFirst() }))
                })
        }
        func show(_ text: String, url: String) async throws {}
        func open(_ url: String) async throws {}
    }

    private func session(
        _ server: Server, _ person: Person, format: String = "json", _ more: [(String, String)] = []
    ) throws -> SchemeSession {
        try CookieLogins.session(
            [
                ("login", "\(server.url)/login"), ("username", "ada"), ("password", "p"), ("format", format),
                ("mfa", "\(server.url)/mfa"),
            ] + more, interaction: person)
    }

    @Test func `The right code completes the login`() async throws {
        let (server, person) = (try Server(), Person(["123456"]))
        let session = try session(server, person)
        #expect(try await session.provider().text("\(server.url)/api").status == 200)
        #expect(server.state.codes == [#"{"sessionId":"s1","code":"123456"}"#])
        #expect(person.prompts.values == ["code code: One-time code"])
        #expect(server.requests[0]["Accept"] == "application/json")
    }

    @Test func `After a wrong code, the right one completes the login`() async throws {
        let (server, person) = (try Server(), Person(["1", "2", "123456"]))
        try await session(server, person).login()
        #expect(server.state.challenges == 1)
        #expect(
            person.prompts.values == ["code code: One-time code"]
                + Array(repeating: "code code: One-time code (the last one was refused)", count: 2))
    }

    @Test func `Three wrong codes end the login`() async throws {
        let (server, person) = (try Server(), Person(["1", "2", "3", "123456"]))
        let failure = try await CookieLogins.failure(of: session(server, person))
        #expect(failure == (.denied, "the server refused 3 one-time codes"))
        #expect(server.state.codes.count == 3)
    }

    @Test func `An expired challenge restarts the login once`() async throws {
        let (server, person) = (try Server(), Person(["123456", "123456"]))
        server.expire([1])
        try await session(server, person).login()
        #expect(server.state.challenges == 2)
        #expect(server.state.codes.last == #"{"sessionId":"s2","code":"123456"}"#)
        #expect(server.requests.map { $0["Cookie"] } == [nil, "csrftoken=t1", nil, "csrftoken=t2"])

        let never = try Server()
        never.expire([1, 2, 3])
        let failure = try await CookieLogins.failure(of: session(never, Person(["123456", "123456"])))
        #expect(failure.status == .unavailable)
        #expect(failure.message.contains("expired twice"))
        #expect(never.state.challenges == 2)
    }

    @Test func `The code goes with the CSRF token that came with the challenge`() async throws {
        let (server, person) = (try Server(), Person(["123456"]))
        try await session(server, person, [("csrf", "cookie"), ("page", "\(server.url)/login")]).login()
        #expect(server.requests.map { "\($0.method) \($0["X-CSRFToken"] ?? "-")" } == ["GET -", "POST t1", "POST t2"])
    }

    @Test func `A repeated challenge is answered again`() async throws {
        let server = try ScriptedServer { request in
            let body = String(decoding: request.body, as: UTF8.self)
            if body.contains("s2") { return .json(200, "{}", "Set-Cookie: sid=1; Path=/") }
            return .json(401, #"{"code":"MFA_REQUIRED","sessionId":"\#(request.target == "/login" ? "s1" : "s2")"}"#)
        }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("mfa", "\(server.url)/mfa")]
        try await CookieLogins.session(settings, interaction: Person(["1", "2"])).login()
        #expect(
            server.requests.dropFirst().map { String(decoding: $0.body, as: UTF8.self) } == [
                "sessionId=s1&code=1", "sessionId=s2&code=2",
            ])
    }

    @Test func `Status 410 means an expired challenge, for a code only`() async throws {
        let statuses = Locked([200, 410, 200, 200])
        let server = try ScriptedServer { request in
            let status = statuses.withLock { $0.isEmpty ? 410 : $0.removeFirst() }
            return .json(
                status, request.target == "/login" ? #"{"code":"MFA_REQUIRED"}"# : "{}", "Set-Cookie: sid=1; Path=/")
        }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("mfa", "\(server.url)/mfa")]
        try await CookieLogins.session(settings, interaction: Person(["1", "2"])).login()
        #expect(server.requests.map(\.target) == ["/login", "/mfa", "/login", "/mfa"])
        #expect(String(decoding: server.requests[1].body, as: UTF8.self) == "code=1")

        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings.filter { $0.0 != "mfa" }))
        #expect(failure.message == "the server can't log in users now (status 410)")
    }

    @Test func `The names, the form and the status of the challenge can be set`() async throws {
        let (server, person) = (try Server("problem", status: 202), Person(["123456"]))
        let session = try session(
            server, person, format: "form",
            [
                ("mfa-when", "202 problem=MFA_REQUIRED"), ("mfa-code", "otp"),
                ("mfa-session", "mfaChallenge.type"),
            ])
        _ = try await CookieLogins.failure(of: session)
        #expect(server.state.codes.first == "type=totp&otp=123456")

        let other = try self.session(
            server, person, [("mfa-when", "403 problem=MFA_REQUIRED"), ("session-cookie", "sid")])
        #expect(try await CookieLogins.failure(of: other).message == "the server set no valid cookie sid (status 202)")
    }

    @Test func `Missing answers are asked for together; without interaction the error names them`() async throws {
        let (server, person) = (try Server(), Person(["123456"]))
        let settings = [("login", "\(server.url)/login"), ("format", "json"), ("mfa", "\(server.url)/mfa")]
        try await CookieLogins.session(settings, interaction: person).login()
        #expect(person.prompts.values.first == "text username: User name, secret password: Password")
        #expect(String(decoding: server.requests[0].body, as: UTF8.self) == #"{"username":"username","password":"password"}"#)

        let error = try await #require(throws: PluginError.self) { try await CookieLogins.session(settings).login() }
        guard case .unanswered("cookie", ["username", "password"]) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }
}
