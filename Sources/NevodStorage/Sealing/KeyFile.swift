internal import Glibc
public import NevodSupport

/// A key in a file that only this user can read (mode 0600). It is created from random bytes together with the store. Without the
/// file, the store can't be read: back up both, but not in the same place.
///
/// Beside the key file, there is a file for each store whose name ends with `.count`. It holds the number of the store's changes,
/// and needs no backup.
public struct KeyFile: StoreKeySource {
    private static let longestFile = 1024

    private let path: String

    /// - Parameter path: A path in a folder that only this user can access. A missing folder is created with mode 0700.
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
        guard let file = try PrivateFile.existing(path) else { return nil }
        let key = try file.size <= Self.longestFile ? Self.key(in: file.readSecret()) : nil
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

    /// Keeps an existing file, because two tasks that create a store at the same time must end up with the same key.
    private func create() throws(StorageError) {
        try PrivateDirectory.makePlace(of: path)
        // Unique to this call, since other tasks of this process may be creating the file too.
        let new = "\(path).\(StoreIdentifier.random()).new"
        // Durable: a store that is on the device without its key would be lost in the next power failure.
        let line = Hexadecimal.line(SealingKey.random().bytes)
        try line.withUnsafeBytes { (text) throws(StorageError) in
            try PrivateFile.write(text, unlessPresent: path, as: new)
        }
    }

    // MARK: The count

    public func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? {
        do throws(StorageError) {
            guard let file = try PrivateFile.existing(countPath(store)) else { return nil }
            return try Self.count(in: file, salt)
        } catch {
            return nil
        }
    }

    /// Writes the file in place, and doesn't wait for the device. If the count is lost or too low, a store that was turned back
    /// may go unnoticed, but nothing else fails. If the folder can't be written, no count is kept.
    public func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {
        guard let file = try? PrivateFile.created(countPath(store)), file.size <= Self.longestFile else { return }
        if let known = try? Self.count(in: file, salt), known >= count { return }
        let digits = String(count)
        let line = "\(Hexadecimal.text(salt)) \(String(repeating: "0", count: 20 - digits.utf8.count))\(digits)\n"
        _ = Array(line.utf8).withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, 0) }
    }

    private func countPath(_ store: StoreIdentifier) -> String { "\(path).\(store).count" }

    /// - Returns: nil if the count belongs to another key, or if the file can't hold a count.
    private static func count(in file: borrowing PrivateFile, _ salt: [UInt8]) throws(StorageError) -> UInt64? {
        guard file.size <= longestFile else { return nil }
        let words = String(decoding: try file.read(), as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        return words.count == 2 && words[0] == Hexadecimal.text(salt) ? UInt64(words[1]) : nil
    }
}
