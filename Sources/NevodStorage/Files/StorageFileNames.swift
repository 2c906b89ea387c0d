internal import NevodSupport

/// The names of a folder's files. A name that is a digest is known only for a key that was asked for.
final class StorageFileNames: Sendable {
    private let digests = Locked<[String: StorageKey]>([:])

    func name(of key: StorageKey) -> String {
        let name = StorageFileName(key)
        if name.isDigest { digests.withLock { $0[name.text] = key } }
        return name.text
    }

    func key(of name: String) -> StorageKey? {
        StorageFileName.key(of: name) ?? digests.withLock { $0[name] }
    }
}
