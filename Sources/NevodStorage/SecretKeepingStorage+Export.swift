internal import Glibc
internal import NevodSupport

/// An export is a store in one file, whatever type of store it comes from, so any other type can import it.
extension SecretKeepingStorage {
    /// - Parameter path: A path that doesn't exist yet; a failure leaves nothing there.
    /// - Returns: the number of values.
    package func exportValues(of keys: [StorageKey], to path: String, key source: any StoreKeySource) async throws -> Int {
        guard access(path, F_OK) != 0 else {
            throw StorageError(.other, path, problem: "exists already", remedy: "choose another name, or move it away")
        }
        do {
            let copy = try await SQLiteStorage(path: path, keys: [source])
            var count = 0
            var values: [(StorageKey, Secret)] = []
            for key in keys {
                guard let secret = try await secret(for: key) else { continue }
                values.append((key, secret))
                count += 1
                guard values.count == 1000 else { continue }
                try await copy.setAll(values)
                values = []
            }
            try await copy.setAll(values)
            try await copy.becomeOneFile()
            return count
        } catch {
            for suffix in ["", "-wal", "-shm", "-changes"] { unlink(path + suffix) }
            throw error
        }
    }
}
