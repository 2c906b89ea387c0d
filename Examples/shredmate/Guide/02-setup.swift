// Setup
import Foundation
import NevodSessions

func setUp() -> (AuthService, RiderService) {
    let sessionStore = TokenStorage()

    let provider = DefaultTokenProvider(
        tokenStorage: sessionStore,
        baseURL: URL(string: "https://api.riders.example/api/v1")!
    )

    let http = AuthenticatingHTTPClient(
        baseURL: URL(string: "https://api.riders.example/api/v1")!,
        tokenProvider: provider
    )

    let auth = AuthService(client: http, tokenStorage: sessionStore)
    let riders = RiderService(client: http)
    return (auth, riders)
}
