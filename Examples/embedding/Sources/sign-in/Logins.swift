import NevodHostFoundation

/// Docs/authentication.md, "OAuth 2.0 without a plugin": logins with and without a person.
func logInWithBrowser(
    _ client: OAuthClient, _ storage: TokenStorage<OAuthToken>, open: (String) async throws -> String
) async throws {
    let login = OAuthLogin(redirectURI: "com.example.app:/login")
    let address = try await open(client.authorizationURL(for: login))
    try await storage.save(client.exchange(redirect: address, for: login))
}

func logInWithDevice(_ client: OAuthClient, _ storage: TokenStorage<OAuthToken>) async throws {
    let device = try await client.deviceAuthorization()
    print("Open \(device.verificationURI) and enter \(device.userCode)")
    try await storage.save(client.token(for: device))
}

func service(_ storage: TokenStorage<OAuthToken>, _ secret: Secret) throws -> NetworkProvider {
    let server = try OAuthServer(tokenEndpoint: "https://login.example.com/token")
    let client = try OAuthClient(server: server, clientID: "reports", authentication: .basic(secret), scopes: ["orders"])
    let authentication = AuthenticationInterceptor(
        tokenStorage: storage, refreshStrategy: { _ in try await client.clientCredentials() })
    return NetworkProvider.quick(baseURL: "https://api.example.com", interceptor: authentication)
}

/// Returns the text to show after a failed login.
func advice(on error: OAuthError) -> String {
    if error.isTransient { return "please try again later" }
    return error.serverCode == .accessDenied ? "you have said no" : "the login failed: \(error)"
}
