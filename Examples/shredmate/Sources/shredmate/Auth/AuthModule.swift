import Foundation
import NevodSessions

/// The parts of the module, put together once when the app starts.
@MainActor
struct AuthModule {
    let tokenStorage: TokenStorage
    let client: AuthenticatingHTTPClient
    let authService: AuthService
    let riderService: RiderService
    let authState: AuthState

    init(
        baseURL: URL, tokenStorage: TokenStorage = TokenStorage(), onSessionInvalidated: (@Sendable () async -> Void)? = nil
    ) {
        let tokenProvider = DefaultTokenProvider(tokenStorage: tokenStorage, baseURL: baseURL)
        let client = AuthenticatingHTTPClient(
            baseURL: baseURL, tokenProvider: tokenProvider, onSessionInvalidated: onSessionInvalidated)
        self.tokenStorage = tokenStorage
        self.client = client
        authService = AuthService(client: client, tokenStorage: tokenStorage)
        riderService = RiderService(client: client)
        authState = AuthState(authService: authService, riderService: riderService, tokenStorage: tokenStorage)
    }
}
