// The keyring example of Docs/storage.md. Not run, because not every machine has a keyring.
import NevodHost
import NevodHostSecretService

func keyring() async throws -> SecretServiceStorage? {
    guard await SecretServiceStorage.isAvailable() else { return nil }
    return try SecretServiceStorage(application: "com.example")
}

func sealed(_ folder: String) async throws -> SQLiteStorage {
    let keys: [any StoreKeySource] = [SecretServiceKey(), KeyFile(path: "\(folder)/store.key")]
    let storage = try await SQLiteStorage(path: "\(folder)/store.db", keys: keys)
    print("sealed by \(storage.keyKind)")
    return storage
}
