import NevodHost
import NevodHostPostgreSQL

/// Docs/storage.md, "PostgreSQL". Needs a server.
func fleet() async throws {
    let storage = try await PostgreSQLStorage(connection: "service=tokens", keys: [KeyFile(path: "/etc/app/tokens.key")])
    let tokens = TokenStorage<OAuthToken>(storage: storage, key: "user 4711")

    for await token in tokens.changes {
        print(token == nil ? "logged out, here or elsewhere" : "another token")
    }
}
