internal import Glibc
public import NevodSupport

/// A key in a file of its own that only this user can read (mode 0600): made, of random bytes, with the store. Without the file,
/// the store can't be read: back up both, not in the same place.
public struct KeyFile: StoreKeySource {
    private let path: String

    /// - Parameter path: in a folder that only this user can look into; it is made, with mode 0700, if it isn't there.
    public init(path: String) {
        self.path = path
    }

    public var kind: String { "key-file" }
    public var description: String { "the key file \(path)" }

    public func isAvailable() async -> Bool { true }

    /// The bytes in the file, 64 hexadecimal digits.
    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        if let key = try read() { return key }
        guard isNew else {
            throw StorageError(
                .unavailable, path, problem: "the key file of this store is missing", remedy: "put it back from a backup")
        }
        try make()
        guard let key = try read() else { throw StorageError(path, "can't be read", errno: ENOENT) }
        return key
    }

    private func read() throws(StorageError) -> Secret? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw StorageError(path, "can't be opened", errno: errno)
        }
        let content = try PrivateFile(file, .file, path: path)
        var text = content.size <= 1024 ? try content.read() : []
        defer { text.withUnsafeMutableBytes { $0.wipe() } }
        let key = text.withUnsafeBytes { Hexadecimal.secret(UnsafeRawBufferPointer(rebasing: $0.prefix { $0 > 0x20 })) }
        guard let key, key.count == SealingKey.size else {
            throw StorageError(
                .damaged, path, problem: "is not a key file: \(2 * SealingKey.size) hexadecimal digits",
                remedy: "put it back from a backup")
        }
        return key
    }

    /// Whole, or not at all: two processes that make a store at once must not each have a key of their own.
    private func make() throws(StorageError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try PrivateDirectory.make(String(path[..<slash])) }
        // Of this call's own: other tasks of this process may be making it too.
        let new = "\(path).\(StoreIdentifier.random()).new"
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(new, "can't be made", errno: errno) }
        defer { unlink(new) }
        var text = SealingKey.random().bytes.withUnsafeBytes { Array(Hexadecimal.text($0).utf8) } + [UInt8(ascii: "\n")]
        defer { text.withUnsafeMutableBytes { $0.wipe() } }
        try PrivateFile(file, .file, path: new).write(text)
        guard link(new, path) == 0 || errno == EEXIST else { throw StorageError(path, "can't be made", errno: errno) }
    }
}
