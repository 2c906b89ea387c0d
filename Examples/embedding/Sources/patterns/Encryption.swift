import NevodSessions

/// Sessions in files, sealed with AES-256-GCM. The key is in another folder, so that a copy of one folder is useless.
func makeSealedStorage(folder: String, keys: String) async throws -> SessionStorage<Member> {
    let files = try FileStorage(directory: folder)
    return SessionStorage(storage: try await SealingStorage(files, key: KeyFile(path: "\(keys)/sessions.key")))
}
