import NevodSessions

struct LoginCredentials: Encodable, Sendable {
    let email: String
    let password: String
}

struct LoginFailure: MFAChallengeConvertible {
    let code: String
    let sessionId: String?
    let mfaChallenge: MFAChallenge?
    let attemptsLeft: Int?

    var mfaStatus: MFAStatus? {
        switch code {
        case "MFA_REQUIRED": .required(challenge: mfaChallenge ?? MFAChallenge(), sessionId: sessionId ?? "")
        case "MFA_WRONG_CODE": .wrongCode(attemptsLeft: attemptsLeft)
        case "MFA_EXPIRED": .expired
        default: nil
        }
    }
}

typealias MFALogin = MFAAuthClient<LoginCredentials, AuthTokens, LoginFailure>

func mfaLogin(with client: JWTAuthClient) -> MFALogin {
    MFAAuthClient(
        client: client, failure: LoginFailure.self, login: { .post("/auth/login").body($0) },
        verify: { .post("/auth/mfa/verify").body(["sessionId": $0, "code": $1]) })
}

func logIn(
    _ credentials: LoginCredentials, by login: MFALogin, code: (MFAChallenge) async -> String
) async throws -> AuthTokens {
    switch try await login.loginWithMFA(credentials: credentials) {
    case .success(let tokens): return tokens
    case .mfaRequired(let challenge, let sessionId):
        while true {
            do {
                return try await login.completeMFAChallenge(sessionId: sessionId, code: await code(challenge))
            } catch MFAError.wrongCode(let left) where left != 0 {}
        }
    }
}

func finish(_ login: MFALogin, _ sessionId: String, code: String, in state: AuthState<MFAUser>) async {
    await state.login {
        UserSession(tokens: try await login.completeMFAChallenge(sessionId: sessionId, code: code), user: nil)
    }
}

struct MFAUser: Codable, Sendable {
    let name: String
}
