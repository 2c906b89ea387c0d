// Start of the app
@MainActor
func appear(_ session: AuthState) {
    Task {
        await session.restoreSession()
    }
}
