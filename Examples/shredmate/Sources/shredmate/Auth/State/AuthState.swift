import NevodSessions
import Observation

/// The state of the session for the app's UI: the library's, and the rider's profile.
@MainActor @Observable
final class AuthState {
    /// A profile belongs to one user, and is never shown for another.
    private struct Profile {
        let user: User.ID
        let rider: Rider
    }

    private var profile: Profile?
    @ObservationIgnored private let session: NevodSessions.AuthState<User>
    @ObservationIgnored private let riderService: RiderService
    @ObservationIgnored private let tokenStorage: TokenStorage

    init(authService: AuthService, riderService: RiderService, tokenStorage: TokenStorage) {
        session = NevodSessions.AuthState(service: authService.requests, tokenStorage: tokenStorage)
        self.riderService = riderService
        self.tokenStorage = tokenStorage
    }

    var isLoading: Bool { session.isLoading }
    var isLoggedIn: Bool { session.isLoggedIn }
    var user: User? { session.user }
    var error: AuthError? { session.error }

    /// The logged-in user's profile; nil if it hasn't been fetched yet.
    var rider: Rider? {
        guard let profile, isLoggedIn, user?.id == profile.user else { return nil }
        return profile.rider
    }

    /// The status now, and after each change.
    var changes: AsyncStream<AuthStatus<User>> { session.changes }

    func login(email: String, password: String) async {
        await session.login(email: email, password: password)
        await fetchRider()
    }

    func register(email: String, password: String, name: String) async {
        await session.register(email: email, password: password, name: name)
        await fetchRider()
    }

    func logout() async {
        await session.logout()
    }

    func restoreSession() async {
        await session.restoreSession()
        await fetchRider()
    }

    func tokensNeedRefresh() async -> Bool {
        await session.tokensNeedRefresh()
    }

    @discardableResult
    func refreshIfNeeded() async -> Bool {
        await session.refreshIfNeeded()
    }

    /// Deletes the account at the server; its session ends here too.
    func deleteAccount() async throws {
        try await riderService.deleteMyRider()
        try await tokenStorage.clearAll()
    }

    /// Keeps the profile if it can't be fetched now: the session is still valid.
    private func fetchRider() async {
        guard let user = session.user, session.error == nil, let rider = try? await riderService.fetchMyRider(),
            session.user?.id == user.id
        else { return }
        profile = Profile(user: user.id, rider: rider)
    }
}
