import NevodPluginKit

/// A login with user and password. The server issues an access token, sent on requests, and a renewal, exchanged for a new pair.
struct AcmeKeysAuth: FlowScheme, RefreshFlow, LogoutFlow {
    static let id = "acme-keys"
    static let title = "A login with renewal"

    @Setting("server", help: "Where to log in") var server: ServerURL

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        let answers = try await flow.ask([.text("user", "User"), .secret("password", "Password")])
        let response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
        return try issued(by: response, flow, orThrow: .denied("the server refused it"))
    }

    func refresh(_ flow: AuthFlow, _ token: Pair) async throws(SchemeError) -> IssuedToken {
        let response = try await flow.send(.post("\(server.origin)/renew", form: ["renewal": .secret(token.renewal)]))
        return try issued(by: response, flow, orThrow: .badToken("the server refused it"))
    }

    func logout(_ flow: AuthFlow, _ token: Pair) async throws(SchemeError) {
        _ = try await flow.send(.post("\(server.origin)/logout", form: ["renewal": .secret(token.renewal)]))
    }

    func authorize(_ request: borrowing RequestView, _ token: Pair, _ edits: Edits) throws(SchemeError) {
        edits.setHeader("Authorization", token.authorization)
    }

    private func issued(
        by response: FlowResponse, _ flow: AuthFlow, orThrow refusal: SchemeError
    ) throws(SchemeError) -> IssuedToken {
        if response.status == 401 || response.status == 403 { throw refusal }
        guard response.status == 200 else { throw .unavailable("the server responded with \(response.status)") }
        let json = try response.json()
        guard json["access"]?.string != nil, json["renewal"]?.string != nil else {
            throw .unavailable("the server's response is no token")
        }
        let seconds = json["seconds"]?.integer.map { flow.unixSeconds + min(max($0, 0), 1_000_000_000) }
        return IssuedToken(response.body, expiresAt: seconds)
    }
}

/// The server's response: `{"access": "…", "renewal": "…", "seconds": 3600}`. The host stores its bytes.
struct Pair: SchemeToken {
    let authorization: Secret
    let renewal: Secret

    init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        guard let json = try? JSONValue(parsing: bytes), let access = json["access"]?.string,
            let renewal = json["renewal"]?.string
        else { throw .badToken("it has no access token and renewal") }
        authorization = Secret("Bearer " + access)
        self.renewal = Secret(renewal)
    }
}

private let plugin = PluginExport(AcmeKeysAuth.self, name: "AcmeKeysAuth", version: "0.1.0", vendor: "you")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
