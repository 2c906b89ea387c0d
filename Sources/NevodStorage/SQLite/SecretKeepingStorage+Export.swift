internal import Glibc
internal import NevodSupport

/// Exports are stores of one file, whatever store they are of: what one has written any other takes.
extension SecretKeepingStorage {
    /// - Parameter path: where there is nothing yet; nothing is left there after a failure.
    /// - Returns: how many values there are.
    package func exportValues(of keys: [StorageKey], to path: String, key source: any StoreKeySource) async throws -> Int {
        guard access(path, F_OK) != 0 else {
            throw StorageError(.other, path, problem: "is there already", remedy: "choose another name, or move it away")
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
            for end in ["", "-wal", "-shm", "-changes"] { unlink(path + end) }
            throw error
        }
    }
}
