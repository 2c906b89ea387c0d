public import NevodPluginKit
internal import NevodSupport
internal import _Concurrency

/// A scheme whose flows use every action, in a library with its own runtime.
struct FlowProbe: FlowScheme, RefreshFlow, LogoutFlow, ChallengeFlow {
    enum Fault: String, CaseIterable, SettingValue {
        case nothing, sleeps, swallows
        /// Not the scheme's fault: the user has no browser.
        case browserless
    }

    static let id = "flow-probe"
    static let title = "A session that expires"

    @Setting("server", help: "Where to log in") var server: ServerURL
    @Setting("fault", default: .nothing, help: "What goes wrong") var fault: Fault

    var needs: Needs { [.challenges, .state] }

    /// Shared by the copies of the scheme. Not an actor, because a flow that waits for another would be suspended outside of the
    /// host's calls.
    private final class Attempts: Sendable {
        private let count = Locked(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private let attempts = Attempts()

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        switch fault {
        case .nothing: break
        case .sleeps:
            #if hasFeature(Embedded)
                // Embedded Swift has no sleep: nothing resumes this.
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            #else
                try? await Task.sleep(for: .seconds(3600))
            #endif
        case .swallows: while true { try? await flow.wait(.milliseconds(1)) }
        case .browserless: return try await logInAnyhow(flow)
        }
        let answers = try await flow.ask([.text("user", "User"), .secret("password", "Password")])
        var response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
        while response.status == 503 {
            try await flow.wait(.milliseconds(1))
            response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
        }
        guard response.status == 200 else { throw .denied("the server refused the login") }
        let json = try response.json()
        guard let token = json["token"]?.string else { throw .unavailable("the response has no token") }
        let issued = IssuedToken(
            Secret("\(token)-\(attempts.next())"), expiresAt: json["expires_in"]?.integer.map { flow.unixSeconds + $0 },
            account: answers["user"].map { String(revealing: $0) } ?? "")
        try await flow.keep(issued)
        try await flow.show("Logged in", url: "\(server.origin)/welcome")
        return issued
    }

    private func logInAnyhow(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        do {
            let uri = try await flow.listen(path: "/back")
            let back = try await flow.browse("\(server.origin)/authorize?redirect_uri=\(uri)")
            return IssuedToken(Secret(back), account: flow.account)
        } catch  where error.isUnsupported {
            try await flow.show("Enter ABCD at", url: "\(server.origin)/device")
            return IssuedToken(Secret("device"), account: flow.account)
        }
    }

    func refresh(_ flow: AuthFlow, _ token: Secret) async throws(SchemeError) -> IssuedToken {
        let response = try await flow.send(.post("\(server.origin)/refresh", json: ["token": .secret(token)]))
        guard response.status == 200 else { throw .badToken("the session is over") }
        return IssuedToken(response.body, account: flow.token?.account ?? "")
    }

    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: Secret?) async throws(SchemeError) -> IssuedToken {
        let challenges = Challenge.parse(response.headers(named: "WWW-Authenticate"))
        guard let nonce = challenges.first(where: { $0.isOf("Probe") })?["nonce"] else {
            throw .unavailable("no challenge that this scheme knows")
        }
        flow.setState(Array(nonce.utf8))
        return IssuedToken(token ?? Secret("anonymous"))
    }

    func logout(_ flow: AuthFlow, _ token: Secret) async throws(SchemeError) {
        _ = try await flow.send(.post("\(server.origin)/logout", form: ["token": .secret(token)]))
    }

    func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) {
        edits.setHeader("X-Token", token)
        if !request.state.isEmpty { edits.setHeader("X-Nonce", request.state) }
    }

    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: Secret?, _ edits: ResponseEdits
    ) -> Verdict {
        guard let line = response.header("www-authenticate") else { return .nothing }
        if let nonce = Challenge.parse([line]).first(where: { $0.isOf("Stale") })?["nonce"] {
            edits.setState(Array(nonce.utf8))
            return .retryOnce
        }
        return line.hasPrefix("Probe") ? .challenge : .nothing
    }
}

private let plugin = PluginExport(FlowProbe.self, name: "FlowProbe", version: "1.0.0", vendor: "NevodHost")
// The contract prescribes the name.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
