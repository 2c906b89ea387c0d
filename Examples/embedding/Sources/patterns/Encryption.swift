import NevodSessions

/// Sessions in files, sealed with AES-256-GCM; the key stands in another folder, so that a copy of one of them is useless.
func makeSealedStorage(folder: String, keys: String) async throws -> SessionStorage<Member> {
    let files = try FileStorage(directory: folder)
    return SessionStorage(storage: try await SealingStorage(files, key: KeyFile(path: "\(keys)/sessions.key")))
}
