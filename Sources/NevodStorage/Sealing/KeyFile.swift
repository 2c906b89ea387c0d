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
        let key = try content.size <= 1024 ? Self.key(in: content.readSecret()) : nil
        guard let key, key.count == SealingKey.size else {
            throw StorageError(
                .damaged, path, problem: "is not a key file: \(2 * SealingKey.size) hexadecimal digits",
                remedy: "put it back from a backup")
        }
        return key
    }

    private static func key(in text: Secret) -> Secret? {
        text.withUnsafeBytes { Hexadecimal.secret(UnsafeRawBufferPointer(rebasing: $0.prefix { $0 > 0x20 })) }
    }

    /// Whole, or not at all: two that make a store at once must not each have a key of their own.
    private func make() throws(StorageError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try PrivateDirectory.make(String(path[..<slash])) }
        // Of this call's own: other tasks of this process may be making it too.
        let new = "\(path).\(StoreIdentifier.random()).new"
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(new, "can't be made", errno: errno) }
        defer { unlink(new) }
        let content = try PrivateFile(file, .file, path: new)
        try Hexadecimal.line(SealingKey.random().bytes).withUnsafeBytes { (text) throws(StorageError) in try content.write(text) }
        guard link(new, path) == 0 || errno == EEXIST else { throw StorageError(path, "can't be made", errno: errno) }
        // A store that is on the device while its key is not would be lost with the next failure of power.
        try synchroniseFolder()
    }

    private func synchroniseFolder() throws(StorageError) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        let descriptor = open(String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(String(folder), "can't be opened", errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError(path, "can't be made on its device", errno: errno) }
    }
}
