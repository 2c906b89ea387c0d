// TokenStorage
import NevodSessions

func keepASession(tokens received: AuthTokens, user account: User) async throws {
    let store = TokenStorage()

    try await store.saveTokens(received)
    try await store.saveUser(account)

    let kept = await store.loadTokens()
    let owner = await store.loadUser()

    try await store.clearAll()
    _ = (kept, owner)
}
