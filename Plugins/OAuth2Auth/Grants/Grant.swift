internal import NevodPluginKit
internal import NevodSupport

/// The way a token is obtained (RFC 6749 §1.3, and grants from other documents).
enum Grant: String, CaseIterable, SettingValue {
    /// Authorization code with PKCE (RFC 6749 §4.1, RFC 7636): a person logs in with a browser.
    case code
    /// Device authorization (RFC 8628): a person enters a code on another device.
    case device
    /// For the client itself (RFC 6749 §4.4).
    case clientCredentials = "client-credentials"
    /// A user's name and password (RFC 6749 §4.3). Legacy: RFC 9700 §2.4 forbids it.
    case password
    /// For another token (RFC 8693).
    case tokenExchange = "token-exchange"
    /// For a signed assertion (RFC 7523 §2.1).
    case jwtBearer = "jwt-bearer"
    /// A refresh token that was obtained elsewhere (RFC 6749 §6).
    case refreshToken = "refresh-token"
    /// A token that the platform issues to this machine, container or job, without an authorization server.
    case metadata
}

extension OAuth2Auth {
    /// Refuses missing settings, and settings that the grant doesn't use. Reads the settings of grants without a person.
    mutating func prepareGrant() throws(SchemeError) {
        try password.check(grant)
        if grant != .refreshToken { try Self.refuse([("refresh-token", refreshToken != nil)], without: "grant=refresh-token") }
        if let refreshToken, refreshToken.isEmpty {
            throw .badSetting("refresh-token", "must not be empty; leave it out to be asked for it")
        }
        let isWorkloadUsed =
            grant == .metadata || assertsWorkload || grant == .tokenExchange && !exchange.hasSubject
            || grant == .jwtBearer && !assertions.isGiven
        let hasWorkload = workload.isGiven
        try exchange.prepare(grant, hasWorkload: hasWorkload)
        try assertions.prepare(grant, hasWorkload: hasWorkload, clientID: clientID)
        try workload.prepare(isUsed: isWorkloadUsed)
        // Without a proof of identity, anybody could get such a token (RFC 6749 §4.4).
        if grant == .clientCredentials, isPublicClient {
            throw .badSetting(
                "client-secret", "or client-key is needed for grant=client-credentials; or client-auth=tls with --cert")
        }
    }

    /// Refuses settings that have no meaning.
    ///
    /// - Parameter condition: the missing setting, as the user would write it.
    static func refuse(_ settings: [(name: String, isGiven: Bool)], without condition: String) throws(SchemeError) {
        if let setting = settings.first(where: { $0.isGiven }) {
            throw .badSetting(setting.name, "has no meaning without \(condition)")
        }
    }
}

/// A token for the client itself (RFC 6749 §4.4).
struct ClientCredentials {
    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        var fields: FormFields = ["grant_type": "client_credentials"]
        server.target(&fields)
        var token = try await server.token(fields, as: "the client's credentials")
        // The server shouldn't issue a refresh token (§4.4.3). If it does, drop it: the credentials are at hand, and a refresh
        // token could be stolen.
        token.refreshToken = nil
        return token
    }
}

/// A token for a user's name and password (RFC 6749 §4.3). Only for servers that support nothing else: RFC 9700 §2.4 forbids it,
/// because it shows the password to the client and has no second factor.
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
            if let username, username.isEmpty {
                throw .badSetting("username", "must not be empty; leave it out to be asked for it")
            }
            if let password, password.isEmpty {
                throw .badSetting("password", "must not be empty; leave it out to be asked for it")
            }
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
        // An account from the server's ID token takes precedence.
        if token.account.isEmpty, Self.canBeAccount(username) { token.account = username }
        return token
    }

    /// Asks for everything missing at once.
    private func credentials() async throws(SchemeError) -> (username: String, password: Secret) {
        var questions: [FlowQuestion] = []
        if settings.username == nil { questions.append(.text("username", "User name")) }
        if settings.password == nil { questions.append(.secret("password", "Password")) }
        let answers = questions.isEmpty ? [:] : try await server.flow.ask(questions)
        guard let username = settings.username ?? answers["username"].map({ String(revealing: $0) }),
            let password = settings.password ?? answers["password"]
        else { throw .internal("the host gave no answer to a question") }
        guard !username.isEmpty, !password.isEmpty else { throw .denied("a user name and a password are needed") }
        return (username, password)
    }

    /// Whether the host accepts the name as a session's account.
    private static func canBeAccount(_ name: String) -> Bool {
        name.utf8.count <= 256 && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

/// A session that begins with a refresh token obtained elsewhere: by a login, or in the server's console.
struct GivenRefreshToken {
    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let given =
            if let setting = server.scheme.refreshToken { setting } else {
                try await server.flow.ask(.secret("refresh-token", "Refresh token"))
            }
        // It is stored as a line, so a line break would begin another member.
        guard StoredToken.isRefreshToken(String(revealing: given)) else {
            throw .badSetting(
                "refresh-token", "is not a refresh token: it has a line break or another control character, or is too long")
        }
        var fields: FormFields = ["grant_type": "refresh_token", "refresh_token": .secret(given)]
        server.target(&fields)
        var token = try await server.token(fields, as: "the given refresh token")
        // A server that doesn't rotate the refresh token leaves it out (RFC 6749 §6).
        token.refreshToken = token.refreshToken ?? given
        return token
    }
}
