internal import Glibc
internal import NevodSupport

/// An open file or folder that only this user can access. Checked through its descriptor, so that it can't be exchanged between the
/// check and the use.
struct PrivateFile: ~Copyable {
    enum Kind {
        case file, folder
    }

    let descriptor: Int32
    let size: Int
    let path: String

    /// - Parameter descriptor: Closed by this object, even if the initializer throws.
    init(_ descriptor: Int32, _ kind: Kind, path: String) throws(StorageError) {
        size = try Self.check(descriptor, kind, path: path)
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// - Parameter descriptor: Closed if this throws.
    /// - Returns: the size.
    static func check(_ descriptor: Int32, _ kind: Kind, path: String) throws(StorageError) -> Int {
        do throws(StorageError) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw StorageError(path, "can't be examined", errno: errno) }
            try check(info, kind, path)
            return Int(info.st_size)
        } catch {
            close(descriptor)
            throw error
        }
    }

    static func check(_ info: stat, _ kind: Kind, _ path: String) throws(StorageError) {
        guard info.st_mode & S_IFMT == (kind == .file ? S_IFREG : S_IFDIR) else {
            throw StorageError(
                .damaged, path, problem: "is not a \(kind == .file ? "regular file" : "folder")",
                remedy: "move away what is there")
        }
        guard info.st_uid == geteuid() else {
            throw StorageError(
                .permissions, path, problem: "belongs to another user (uid \(info.st_uid))",
                remedy: "run as that user, or: chown \(geteuid()) '\(path)'")
        }
        let mode = info.st_mode & 0o7777
        guard mode & 0o077 == 0 else {
            throw StorageError(
                .permissions, path, problem: "is open to others (mode \(String(mode, radix: 8)))",
                remedy: "chmod \(kind == .file ? "600" : "700") '\(path)'")
        }
    }

    /// The whole content.
    /// Reads the whole content.
    func read() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBufferPointer { (bytes) throws(StorageError) in
            try read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads the whole content without another copy of it; padded with zeros if the file has become shorter.
    func readSecret() throws(StorageError) -> Secret {
        try Secret(count: size) { (bytes) throws(StorageError) in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            _ = try read(into: bytes)
        }
    }

    private func read(into bytes: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        var count = 0
        while count < bytes.count {
            let got = Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw StorageError(path, "can't be read", errno: errno) }
            guard got > 0 else { break }
            count += got
        }
        return count
    }

    func synchronise() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw StorageError(path, "can't be written to its device", errno: errno) }
    }
}
