import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a plugin's tokens with the host's storage, locks and single flight, over real HTTP.
struct SchemeSessionTests {
    private let server: FlowServer
    private let memory = InMemoryStorage()

    init() throws {
        server = try FlowServer()
    }

    private func session(_ mode: String = "exchange", account: String = "") throws -> SchemeSession {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": .text(mode), "url": .text(server.url)])
        return SchemeSession(instance, storage: memory, account: account)
    }

    private func get(_ session: SchemeSession) async throws -> Int {
        try await NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
            .send(HTTPRequest(.get, "\(server.url)/api")).status
    }

    @Test func `A session logs in before the first request, refreshes on 401, and logs out`() async throws {
        let session = try session()
        #expect(try await get(session) == 200)
        #expect(try await get(session) == 200)
        server.change { $0.isExpired = true }
        #expect(try await get(session) == 200)
        #expect(server.state.calls == ["/login login", "/refresh t1"])
        #expect(server.state.apiTokens == ["t1", "t1", "t1", "t2"])
        #expect(try await session.tokenStorage.load()?.account == "me")
        try await session.logout()
        #expect(server.state.calls.last == "/logout t2")
        #expect(try await session.tokenStorage.load() == nil)
    }

    @Test func `A flow is told the account that is wanted, or else the token's`() async throws {
        let named = try session("account", account: "flows")
        #expect(try await get(named) == 200)
        server.change { $0.isExpired = true }
        #expect(try await get(named) == 200)
        try await named.login()
        try await named.logout()
        let unnamed = try session("account")
        try await unnamed.login()
        server.change { ($0.isExpired, $0.refusals) = (true, [400]) }
        // The refresh gives way to a login, for the account of the old token.
        #expect(try await get(unnamed) == 200)
        try await unnamed.logout()
        #expect(
            server.state.calls == [
                "/login account flows", "/refresh account flows", "/login account flows", "/logout account flows",
                "/login account ", "/refresh account me", "/login account me", "/logout account me",
            ])
    }

    @Test func `A scheme that has no flow of any kind has no login`() async throws {
        let session = try session("no-flows")
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect(error.description.contains("the scheme \"flow\" has no login"))
        guard case .noFlow(scheme: "flow", flow: "login") = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        // A logout clears the token here.
        try await session.tokenStorage.save(session.token(IssuedToken(bytes: Secret("t"), expiresAt: nil, account: "")))
        try await session.logout()
        #expect(try await session.tokenStorage.load() == nil)
        #expect(server.state.calls.isEmpty)
    }

    @Test(arguments: [
        (1, " needs corrected settings: there is no card"),
        (2, " can't be done, since the stored session is no longer valid: there is no card; log in again"),
        (3, " was refused: there is no card"), (4, " can't be done now: there is no card; try again later"),
        (6, " of a fault in the plugin: there is no card; report it to the plugin's author, with the function flow_begin"),
        (77, ", with the function flow_begin, which returned the unknown status 77"),
        (-1, ", with the function flow_begin, which returned the unknown status -1"),
    ])
    func `A flow that can't begin fails with its status and reason`(status: Int, words: String) async throws {
        let session = try session("begin \(status)")
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect(error.description.contains(": the login of the scheme \""), "\(error)")
        #expect(error.description.hasSuffix(words), "\(error)")
        #expect(server.state.calls.isEmpty)
    }

    @Test func `A stored token is used by the next process`() async throws {
        try await session().login()
        #expect(try await get(session()) == 200)
        #expect(server.state.calls == ["/login login"])
        let key = try session().instance.tokenKey
        #expect(key.rawValue.hasPrefix("nevod.scheme.flow.flow@\(server.url);"))
        let stored = memory.data(for: key).map { String(decoding: $0, as: UTF8.self) }
        #expect(stored?.contains("\u{2}met1") == true)
    }

    @Test func `A scheme that can't refresh logs in again; so does one whose stored token it can't read`() async throws {
        let session = try session("login-only")
        #expect(try await get(session) == 200)
        server.change { $0.isExpired = true }
        #expect(try await get(session) == 200)
        #expect(server.state.calls == ["/login login", "/login login"])
        try await session.tokenStorage.save(session.token(IssuedToken(bytes: Secret("bad"), expiresAt: nil, account: "")))
        #expect(try await get(session) == 200)
        #expect(server.state.calls.count == 3)
        #expect(server.state.apiTokens.suffix(1) == ["t3"])
    }

    @Test func `A challenge that the server refuses is not followed by another login`() async throws {
        let session = try session("nonce-challenge")
        #expect(try await get(session) == 200)
        server.change { ($0.isExpired, $0.refusal, $0.refusals) = (true, "401 X\r\nX-Fresh: 1\r\n", [400]) }
        let error = await #expect(throws: NetworkError.self) { try await get(session) }
        #expect(error?.description.contains("the server refused to renew the token: ") == true)
        #expect(server.state.calls == ["/login login", "/challenge t1"])
        #expect(try await session.tokenStorage.load() == nil)
    }

    /// Renews a stored token that nobody has rejected and that is valid for an hour.
    private func renewEarly(_ session: SchemeSession) async throws -> RenewalOutcome {
        let token = IssuedToken(bytes: Secret("t0"), expiresAt: HostClock.system.now + .seconds(3600), account: "me")
        try await session.tokenStorage.save(session.token(token))
        let version = try await session.coordinator.read().version
        return try await session.coordinator.renew(version, isRefused: false, until: nil) { try await session.renewed($0) }
    }

    @Test func `A token that still works stays when a login in its place is refused, and isn't asked for again`() async throws {
        let session = try session("login-only")
        server.change { $0.refusesLogins = true }
        guard case .stillUsable = try await renewEarly(session) else { return #expect(Bool(false)) }
        #expect(try await session.tokenStorage.load()?.issued.bytes == Secret("t0"))
        #expect(server.state.calls == ["/login login"])
        #expect(!session.coordinator.isDue(try await session.coordinator.read().version))
        // After the server has rejected it, a refused login ends the session.
        server.change { $0.isExpired = true }
        await #expect(throws: NetworkError.self) { try await get(session) }
        #expect(try await session.tokenStorage.load() == nil)
    }

    @Test func `Nobody is asked to log in while the token still works`() async throws {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": "login-only-ask", "url": .text(server.url)])
        let person = FlowPerson(answers: ["password": Secret("pw")])
        let session = SchemeSession(instance, storage: memory, interaction: person)
        guard case .stillUsable = try await renewEarly(session) else { return #expect(Bool(false)) }
        #expect(person.seen.values == [])
        #expect(try await session.tokenStorage.load()?.issued.bytes == Secret("t0"))
        // A refresh doesn't either.
        let asking = SchemeSession(
            try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": "endless-ask", "url": .text(server.url)]),
            storage: memory, interaction: person)
        guard case .stillUsable = try await renewEarly(asking) else { return #expect(Bool(false)) }
        #expect(person.seen.values == [])
        // A login without questions is made.
        let silent = try self.session("login-only")
        guard case .replaced = try await renewEarly(silent) else { return #expect(Bool(false)) }
        #expect(try await silent.tokenStorage.load()?.issued.bytes == Secret("t1"))
    }

    @Test func `A refresh that is refused early ends the session, as at any time`() async throws {
        let session = try session()
        server.change { $0.refusals = [400] }
        guard case .refused = try await renewEarly(session) else { return #expect(Bool(false)) }
        #expect(try await session.tokenStorage.load() == nil)
        // If it gives way to a login, that also happens early.
        let other = try self.session("account")
        server.change { $0.refusals = [400] }
        guard case .replaced = try await renewEarly(other) else { return #expect(Bool(false)) }
        #expect(server.state.calls == ["/refresh t0", "/refresh account me", "/login account me"])
    }

    @Test func `The key of a token tells nothing of a secret, also if it was given as a text`() throws {
        let scheme = try TestPlugin.settings.get().scheme("settings")
        let keys = try [["text": "a", "pin": "1"], ["text": "a", "pin": "2"], ["text": "b", "pin": "1"]].map {
            (settings: SchemeSettings) in try scheme.makeInstance(settings: settings).tokenKey
        }
        #expect(keys[0] == keys[1] && keys[0] != keys[2])
    }

    @Test func `Clients of one server have a token each`() async throws {
        let (one, other) = (try session("exchange"), try session("login-only"))
        try await one.login()
        #expect(try await other.tokenStorage.load() == nil)
        #expect(try await session("exchange").tokenStorage.load() != nil)
    }

    @Test func `100 requests across the end of a session: one refresh, all succeed`() async throws {
        let session = try session()
        #expect(try await get(session) == 200)
        server.change { $0.isExpired = true }
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        let request = try HTTPRequest(.get, "\(server.url)/api")
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await provider.send(request).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(server.state.calls == ["/login login", "/refresh t1"])
    }

    @Test func `Denied clears the token; unavailable keeps it`() async throws {
        let session = try session()
        #expect(try await get(session) == 200)
        server.change { ($0.isExpired, $0.refusals) = (true, [503]) }
        await #expect(throws: NetworkError.authenticationFailed) { try await get(session) }
        #expect(try await session.tokenStorage.load() != nil)
        server.change { $0.refusals = [400] }
        await #expect(throws: NetworkError.self) { try await get(session) }
        #expect(try await session.tokenStorage.load() == nil)
    }

    @Test func `The events of a session tell a login, a refusal and a logout apart`() async throws {
        let session = try session()
        var events = session.tokenStorage.events.makeAsyncIterator()
        #expect(try await get(session) == 200)
        #expect(await events.next()?.description == "the token was renewed")
        server.change { ($0.isExpired, $0.refusals) = (true, [400]) }
        await #expect(throws: NetworkError.self) { try await get(session) }
        #expect(await events.next()?.description.hasPrefix("the server refused to renew the token: ") == true)
        try await session.logout()
        try await session.login()
        #expect(await events.next()?.description == "a token was saved")
        try await session.logout()
        #expect(await events.next()?.description == "the token was cleared")
    }

    @Test func `A token that a flow has had saved stays, though the flow fails afterwards`() async throws {
        let session = try session("keep")
        try await session.tokenStorage.save(session.token(IssuedToken(bytes: Secret("old"), expiresAt: nil, account: "")))
        server.change { ($0.isExpired, $0.refusals) = (true, [503]) }
        _ = try? await get(session)
        let bytes = try await session.tokenStorage.load()?.issued.bytes
        #expect(bytes == Secret("kept"))
    }

    @Test func `Logging out clears the token, regardless of the server's response`() async throws {
        let elsewhere = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": "exchange", "url": "http://127.0.0.1:1"])
        let unreachable = SchemeSession(elsewhere, storage: memory)
        let token = unreachable.token(IssuedToken(bytes: Secret("t1"), expiresAt: nil, account: ""))
        try await unreachable.tokenStorage.save(token)
        let error = await #expect(throws: PluginError.self) { try await unreachable.logout() }
        guard case .failed(_, _, PluginStatus.unavailable.rawValue, _, _, _)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await unreachable.tokenStorage.load() == nil)
        // An unreadable token is also cleared.
        memory.set(Array("nonsense".utf8), for: elsewhere.tokenKey)
        try await unreachable.logout()
        #expect(memory.data(for: elsewhere.tokenKey) == nil)
    }

    @Test func `State is kept for each origin; new state resets its use count; a response may cause one retry`() async throws {
        let session = try session("nonce")
        let fresh = { @Sendable (nonce: String, status: Int) in
            "HTTP/1.1 \(status) X\r\nX-Fresh: \(nonce)\r\nContent-Length: 0\r\n\r\n"
        }
        server.change { $0.script = [fresh("n1", 401), fresh("", 200).replacing("X-Fresh: \r\n", with: "")] }
        #expect(try await get(session) == 200)
        #expect(try await get(session) == 200)
        server.change { $0.script = [fresh("n2", 200)] }
        #expect(try await get(session) == 200)
        #expect(try await get(session) == 200)
        #expect(server.state.nonces == [" ", "n1 0", "n1 1", "n1 2", "n2 0"])
        #expect(server.state.calls == ["/login login"])
    }

    @Test func `Endless challenges are stopped`() async throws {
        let session = try session("nonce")
        server.change {
            $0.script = (0..<50).map { "HTTP/1.1 401 X\r\nX-Fresh: n\($0)\r\nContent-Length: 0\r\n\r\n" }
        }
        #expect(try await get(session) == 401)
        #expect(server.state.nonces.count < 10)
    }

    @Test func `An action that on_response may not call is an error`() async throws {
        let session = try session("nonce-action")
        server.change { $0.script = ["HTTP/1.1 401 X\r\nX-Fresh: n\r\nContent-Length: 0\r\n\r\n"] }
        let error = await #expect(throws: NetworkError.self) { try await get(session) }
        #expect(error?.description.contains("may call only set_state and keep") == true)
    }

    @Test func `A verdict that the contract doesn't know counts as nothing`() async throws {
        let session = try session("nonce-verdict")
        server.change { $0.script = ["HTTP/1.1 404 X\r\nX-Fresh: n\r\nContent-Length: 0\r\n\r\n"] }
        #expect(try await get(session) == 404)
    }

    @Test func `A refusal in a form that only the scheme knows: one challenge for all, and one for each token`() async throws {
        let session = try session("nonce-challenge")
        #expect(try await get(session) == 200)
        server.change { ($0.isExpired, $0.refusal) = (true, "302 X\r\nX-Fresh: 1\r\nLocation: /login\r\n") }
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        let request = try HTTPRequest(.get, "\(server.url)/api")
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await provider.send(request).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(server.state.calls == ["/login login", "/challenge t1"])
        // The server rejects every token, so the rejection after the last of four flows is returned.
        server.change { $0.issued += 1 }
        server.change { $0.script = (0..<20).map { _ in "HTTP/1.1 302 X\r\nX-Fresh: 1\r\nContent-Length: 0\r\n\r\n" } }
        #expect(try await get(session) == 302)
        #expect(server.state.calls.count == 2 + 4)
    }

    @Test func `A token is used at the servers that it was issued for, and shown to no others`() async throws {
        try await session().login()
        let other = try FlowServer()
        let instance = try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": "exchange", "url": .text(other.url)])
        // With default keys, the sessions are separate. With an embedder's key, they share a token.
        #expect(try await SchemeSession(instance, storage: memory).tokenStorage.load() == nil)
        let shared: StorageKey = "shared"
        let mine = SchemeSession(
            try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": "exchange", "url": .text(server.url)]),
            storage: memory, key: shared)
        try await mine.login()
        let theirs = SchemeSession(instance, storage: memory, key: shared)
        let provider = NetworkProvider(session: CurlSession(), interceptor: theirs.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(other.url)/api")).status == 200)
        #expect(other.state.calls == ["/login login"])
        #expect(other.state.apiTokens == ["t1"])
        // A logout doesn't send the token there either.
        try await mine.logout()
        #expect(server.state.calls == ["/login login", "/login login"])
        #expect(try await theirs.tokenStorage.load() == nil)
    }

    @Test func `A token of another plugin's scheme of the same name is not this one's`() async throws {
        try await session().login()
        let token = try #require(try await session().tokenStorage.load())
        let purpose = TokenPurpose(
            plugin: "Other", scheme: token.purpose.scheme, origins: token.purpose.origins)
        memory.set(try PluginToken(stored: token.issued, purpose).encode(), for: try session().key)
        #expect(try await get(session()) == 200)
        #expect(server.state.calls == ["/login login", "/login login"])
        // The refresh has replaced this token.
        #expect(try await get(session()) == 200)
        #expect(server.state.calls.count == 2)
    }

    @Test func `The live token of one instance is not used by another`() async throws {
        try await session().login()
        let stored = try #require(try await session().tokenStorage.load())
        let (one, two) = (try session().instance, try session().instance)
        let made = try one.token(stored).liveToken(of: one)
        let other = try two.token(stored).liveToken(of: two)
        #expect(made?.instance === one && other?.instance === two)
    }

    @Test func `A scheme without a login goes without a token until it is challenged`() async throws {
        let session = try session("nonce-challenge-only")
        server.change { $0.refusal = "401 X\r\nX-Fresh: 1\r\n" }
        #expect(try await get(session) == 200)
        #expect(try await get(session) == 200)
        #expect(server.state.apiTokens == ["", "t1", "t1"])
        #expect(server.state.calls == ["/challenge login"])
    }

    @Test func `The next token of a response replaces the one that the request carried, and is stored`() async throws {
        let session = try session("nonce-keep")
        server.change { $0.script = ["HTTP/1.1 200 X\r\nX-Fresh: next\r\nContent-Length: 0\r\n\r\n"] }
        #expect(try await get(session) == 200)
        server.change { $0.script = ["HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"] }
        #expect(try await get(self.session("nonce-keep")) == 200)
        #expect(server.state.apiTokens == ["t1", "next"])
        #expect(server.state.calls == ["/login login"])
        // Its response arrives after another login.
        let carried = try await session.coordinator.read().version
        try await session.login()
        try await session.adopt(IssuedToken(bytes: Secret("late"), expiresAt: nil, account: ""), replacing: carried)
        #expect(try await session.tokenStorage.load()?.issued.bytes == Secret("t2"))
    }

    @Test func `A count is given out once for a state, however many requests there are`() async throws {
        let session = try session("nonce")
        server.change { $0.script = ["HTTP/1.1 200 X\r\nX-Fresh: n1\r\nContent-Length: 0\r\n\r\n"] }
        #expect(try await get(session) == 200)
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        let request = try HTTPRequest(.get, "\(server.url)/api")
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 { group.addTask { _ = try await provider.send(request) } }
            try await group.waitForAll()
        }
        let counts = server.state.nonces.filter { $0.hasPrefix("n1 ") }
        #expect(counts.count == 200)
        #expect(Set(counts) == Set((0..<200).map { "n1 \($0)" }))
    }
}
