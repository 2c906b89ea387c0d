internal import Glibc
public import NevodSupport

/// A key in a file that only this user can read (mode 0600), created from random bytes together with the store. Without the file,
/// the store can't be read: back up both, but not in the same place.
///
/// Beside it, in a file for each store whose name ends with `.count`, stands how many changes the store has seen. It needs no backup.
public struct KeyFile: StoreKeySource {
    private let path: String

    /// - Parameter path: A path in a folder that only this user can access; a missing folder is created with mode 0700.
    public init(path: String) {
        self.path = path
    }

    public var kind: String { "key-file" }
    public var description: String { "the key file \(path)" }

    public func isAvailable() async -> Bool { true }

    /// Reads the file, 64 hexadecimal digits; creates it if the store is new.
    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        if let key = try read() { return key }
        guard isNew else {
            throw StorageError(
                .unavailable, path, problem: "the key file of this store is missing", remedy: "restore it from a backup")
        }
        try create()
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
                remedy: "restore it from a backup")
        }
        return key
    }

    private static func key(in text: Secret) -> Secret? {
        text.withUnsafeBytes { Hexadecimal.secret(UnsafeRawBufferPointer(rebasing: $0.prefix { $0 > 0x20 })) }
    }

    /// Keeps an existing file: two tasks that create a store at once must end up with the same key.
    private func create() throws(StorageError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let folder = String(path[..<slash])
            try PrivateDirectory.make(folder)
            try PrivateDirectory.checkPlace(folder)
        }
        // Unique to this call: other tasks of this process may be creating the file too.
        let new = "\(path).\(StoreIdentifier.random()).new"
        // Durable: a store that is on the device while its key is not would be lost in the next power failure.
        let line = Hexadecimal.line(SealingKey.random().bytes)
        try line.withUnsafeBytes { (text) throws(StorageError) in
            try PrivateFile.write(text, unlessPresent: path, as: new)
        }
    }

    // MARK: The count

    public func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? {
        let file = open(countPath(store), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0, let content = try? PrivateFile(file, .file, path: countPath(store)), content.size <= 1024 else {
            return nil
        }
        return try? Self.count(in: content.read(), salt)
    }

    /// Writes the file in place, without waiting for the device: a count that is too low only notices less. Where the folder can't be
    /// written, none is kept.
    public func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {
        let file = open(countPath(store), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0, let content = try? PrivateFile(file, .file, path: countPath(store)), content.size <= 1024 else { return }
        if let known = try? Self.count(in: content.read(), salt), known >= count { return }
        let digits = String(count)
        let line = "\(Hexadecimal.text(salt)) \(String(repeating: "0", count: 20 - digits.utf8.count))\(digits)\n"
        _ = Array(line.utf8).withUnsafeBytes { pwrite(content.descriptor, $0.baseAddress, $0.count, 0) }
    }

    private func countPath(_ store: StoreIdentifier) -> String { "\(path).\(store).count" }

    /// - Returns: nil for another key's count.
    private static func count(in text: [UInt8], _ salt: [UInt8]) -> UInt64? {
        let words = String(decoding: text, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        return words.count == 2 && words[0] == Hexadecimal.text(salt) ? UInt64(words[1]) : nil
    }
}
