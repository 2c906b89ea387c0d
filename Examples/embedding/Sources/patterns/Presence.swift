import NevodSessions

/// A client whose requests need a user who has confirmed their presence in the last five minutes.
struct GuardedClient: Sendable {
    let presence: Presence
    let client: AuthenticatingHTTPClient

    init(
        baseURL: String, tokenProvider: some TokenProvider, check: some PresenceCheck, session: any HTTPTransport = CurlSession()
    ) {
        presence = Presence(check: check, validFor: .seconds(300), reason: "Confirm that it is you")
        let guarding = PresenceInterceptor(presence, for: .all.except(.route { $0.endpoint == "/auth/logout" }))
        client = AuthenticatingHTTPClient(
            baseURL: baseURL, tokenProvider: tokenProvider, session: session, interceptors: [guarding])
    }
}

/// Asks for what the PAM service `/etc/pam.d/sports` demands, such as the account's password.
func accountCheck(
    folder: String? = nil, user: String? = nil, ask: @escaping @Sendable (_ text: String, _ isHidden: Bool) async -> Secret?
) -> PAMPresenceCheck {
    PAMPresenceCheck(service: "sports", user: user, folder: folder) { prompt in
        switch prompt.style {
        case .hidden, .visible: await ask(prompt.text, prompt.style == .hidden)
        case .information, .error: nil
        }
    }
}
