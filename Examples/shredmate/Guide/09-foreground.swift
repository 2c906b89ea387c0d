// Return to the foreground
@MainActor
func becomeActive(_ session: AuthState) async {
    if await session.tokensNeedRefresh() {
        await session.restoreSession()
    }
}
