internal import NevodPluginKit
internal import NevodSupport

/// A token for a user's name and password (RFC 6749 §4.3). For servers that have nothing else: RFC 9700 §2.4 forbids it.
struct Password {
    struct Settings: Sendable {
        @Setting("username", help: "User name for grant=password; asked for when it is missing") var username: String?
        @Setting("password", help: "Password for grant=password; asked for when it is missing") var password: Secret?

        init() {}
    }

    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let settings = server.scheme.password
        var questions: [FlowQuestion] = []
        if settings.username == nil { questions.append(.text("username", "User name")) }
        if settings.password == nil { questions.append(.secret("password", "Password")) }
        let answers = questions.isEmpty ? [:] : try await server.flow.ask(questions)
        guard let username = settings.username ?? answers["username"].map({ String(revealing: $0) }),
            let password = settings.password ?? answers["password"]
        else { throw .internal("the host left a question without an answer") }
        var fields: FormFields = ["grant_type": "password", "username": .text(username), "password": .secret(password)]
        server.target(&fields)
        return try await server.token(fields)
    }
}
