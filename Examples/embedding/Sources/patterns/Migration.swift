import NevodSessions

/// Format 1 had two texts. Format 2 has a session, and format 3 has it under the app's own key.
func migrate(_ storage: some KeyValueStorage) async throws {
    let migrator = try StorageMigrator(
        storage: storage,
        steps: [
            .session(from: 1, to: 2, access: "old_access_token", refresh: "old_refresh_token"),
            .renaming(from: 2, to: 3, [.session: "com.example.session"]),
        ])
    try await migrator.migrate()
}
