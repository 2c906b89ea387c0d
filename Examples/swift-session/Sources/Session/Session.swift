import NevodPluginKit

struct Session: FlowScheme, RefreshFlow, LogoutFlow {
    static let id = "session"
    static let title = "Session with renewal"

    @Setting("server", help: "Where to log in") var server: ServerURL

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        let answers = try await flow.ask([.text("user", "User"), .secret("password", "Password")])
        let response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
        guard response.status != 403 else { throw .denied("the server refused the login") }
        return try await token(from: response, flow)
    }

    func refresh(_ flow: AuthFlow, _ token: Pair) async throws(SchemeError) -> IssuedToken {
        let form: FormFields = ["renewal": .secret(token.renewal)]
        let response = try await flow.send(.post("\(server.origin)/renew", form: form))
        guard response.status != 403 else { throw .badToken("the server doesn't know it") }
        return try await self.token(from: response, flow)
    }

    func logout(_ flow: AuthFlow, _ token: Pair) async throws(SchemeError) {
        _ = try await flow.send(.post("\(server.origin)/logout", form: ["renewal": .secret(token.renewal)]))
    }

    func authorize(_ request: borrowing RequestView, _ token: Pair, _ edits: Edits) {
        edits.setHeader("X-Session", token.session)
    }

    private func token(from response: FlowResponse, _ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        guard response.status == 200 else { throw .unavailable("the server responded with \(response.status)") }
        var token = IssuedToken(response.body)
        // The server has spent the old renewal, so no later failure may lose the new one.
        try await flow.keep(token)
        let pair = try Pair(decoding: response.body)
        let session = [(name: "X-Session", value: String(revealing: pair.session))]
        let details = try await flow.send(.get("\(server.origin)/session", headers: session)).json()
        token.account = details["user"]?.string ?? ""
        token.expiresAt = details["seconds"]?.integer.map { flow.unixSeconds + $0 }
        return token
    }
}

/// The two lines that the server issues: the first goes on requests, and the second is exchanged for a new pair, once.
struct Pair: SchemeToken {
    let session: Secret
    let renewal: Secret

    init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        try self.init(decoding: Secret(bytes))
    }

    init(decoding bytes: Secret) throws(SchemeError) {
        let lines = bytes.withUnsafeBytes { $0.split(separator: UInt8(ascii: "\n")).map { Secret(copying: UnsafeRawBufferPointer(rebasing: $0)) } }
        guard lines.count == 2 else { throw .badToken("it is not of two lines") }
        (session, renewal) = (lines[0], lines[1])
    }
}

private let plugin = PluginExport(Session.self, name: "Session", version: "1.0.0", vendor: "Example")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
