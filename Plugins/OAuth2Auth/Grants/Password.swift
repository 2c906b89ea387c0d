internal import NevodPluginKit
internal import NevodSupport

/// A token for a user's name and password (RFC 6749 §4.3). For servers that have nothing else: RFC 9700 §2.4 forbids it, because
/// it shows the password to the client, and knows no second factor.
struct Password {
    struct Settings: Sendable {
        @Setting("username", help: "User name for grant=password; asked for when it is missing") var username: String?
        @Setting("password", help: "Password for grant=password; asked for when it is missing") var password: Secret?

        init() {}

        func check(_ grant: Grant) throws(SchemeError) {
            guard grant == .password else {
                return try OAuth2Auth.refuse(
                    [("username", username != nil), ("password", password != nil)], without: "grant=password")
            }
            if let username, username.isEmpty { throw .badSetting("username", "must not be empty; without it, it is asked for") }
            if let password, password.isEmpty { throw .badSetting("password", "must not be empty; without it, it is asked for") }
        }
    }

    let server: TokenEndpoint
    private var settings: Settings { server.scheme.password }

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let (username, password) = try await credentials()
        var fields: FormFields = ["grant_type": "password", "username": .text(username), "password": .secret(password)]
        server.target(&fields)
        var token = try await server.token(fields, as: "the user name and the password")
        // Those that a server's ID token names are for people to read, as this one is.
        if token.account.isEmpty, Self.canBeAccount(username) { token.account = username }
        return token
    }

    /// Asks for all that is missing at once.
    private func credentials() async throws(SchemeError) -> (username: String, password: Secret) {
        var questions: [FlowQuestion] = []
        if settings.username == nil { questions.append(.text("username", "User name")) }
        if settings.password == nil { questions.append(.secret("password", "Password")) }
        let answers = questions.isEmpty ? [:] : try await server.flow.ask(questions)
        guard let username = settings.username ?? answers["username"].map({ String(revealing: $0) }),
            let password = settings.password ?? answers["password"]
        else { throw .internal("the host left a question without an answer") }
        guard !username.isEmpty, !password.isEmpty else { throw .denied("a user name and a password are needed") }
        return (username, password)
    }

    /// Whether the host takes the name as a session's account.
    private static func canBeAccount(_ name: String) -> Bool {
        name.utf8.count <= 256 && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
