// AuthState
import NevodSessions
import SwiftUIDeclarations

struct TrailList: View {
    var body: some View { EmptyView() }
}

struct SignInForm: View {
    var body: some View { EmptyView() }
}

@MainActor
func makeState(auth: AuthService, riders: RiderService, store: TokenStorage) -> AuthState {
    let session = AuthState(
        authService: auth,
        riderService: riders,
        tokenStorage: store
    )
    return session
}

struct RootView: View {
    @State private var session: AuthState

    var body: some View {
        if session.isLoggedIn {
            TrailList()
        } else {
            SignInForm()
        }
    }
}

@MainActor
func act(on session: AuthState) async {
    await session.restoreSession()
    await session.login(email: "eve@example.com", password: "open sesame")
    await session.logout()
}

@MainActor
func read(_ session: AuthState) {
    let isBusy: Bool = session.isLoading
    let hasUser: Bool = session.isLoggedIn
    let user: User? = session.user
    let rider: Rider? = session.rider
    let problem: AuthError? = session.error
    _ = (isBusy, hasUser, user, rider, problem)
}
