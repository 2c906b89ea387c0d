internal import Glibc
internal import NevodSupport

/// An open file or folder that only this user can access. It is checked after it was opened, through its descriptor, so that
/// nobody can exchange it between the check and its use.
struct PrivateFile: ~Copyable, Sendable {
    enum Kind {
        case file, folder
    }

    /// An open folder, which a file's name is relative to.
    typealias Folder = (descriptor: Int32, path: String)

    /// Only the user can read and write it.
    static let mode: UInt32 = 0o600

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

    /// Opens a file for reading.
    ///
    /// - Parameter name: The file's name in the folder; without a folder, its path.
    /// - Returns: nil if there is no such file.
    static func existing(_ name: String, in folder: Folder? = nil) throws(StorageError) -> PrivateFile? {
        try open(name, O_RDONLY, in: folder)
    }

    /// Opens a file for reading and writing. Creates it with mode 0600 if it is missing.
    ///
    /// - Parameter name: The file's name in the folder; without a folder, its path.
    static func created(_ name: String, in folder: Folder? = nil) throws(StorageError) -> PrivateFile {
        guard let file = try open(name, O_RDWR | O_CREAT, in: folder) else {
            throw StorageError(fullPath(name, in: folder), "can't be created", errno: ENOENT)
        }
        return file
    }

    private static func open(_ name: String, _ flags: Int32, in folder: Folder?) throws(StorageError) -> PrivateFile? {
        let path = fullPath(name, in: folder)
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let descriptor = openat(
            folder?.descriptor ?? AT_FDCWD, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, Self.mode)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP || errno == EISDIR { throw isNot(.file, path) }
            throw StorageError(path, "can't be opened", errno: errno)
        }
        return try PrivateFile(descriptor, .file, path: path)
    }

    private static func fullPath(_ name: String, in folder: Folder?) -> String {
        folder.map { "\($0.path)/\(name)" } ?? name
    }

    static func isNot(_ kind: Kind, _ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "is not a \(kind == .file ? "regular file" : "folder")", remedy: "move away what is there")
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
        guard info.st_mode & S_IFMT == (kind == .file ? S_IFREG : S_IFDIR) else { throw isNot(kind, path) }
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

    /// Reads the whole content.
    func read() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBufferPointer { (bytes) throws(StorageError) in
            try read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads the whole content without making another copy. Pads it with zeros if the file has become shorter.
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

extension PrivateFile {
    /// Writes a file of mode 0600 in one step. The file is on the device when this returns.
    ///
    /// - Parameters:
    ///   - name: the file's name in the folder.
    ///   - temporary: its name until it is complete.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to name: String, as temporary: String, in folder: borrowing PrivateFile
    ) throws(StorageError) {
        let path = folder.path
        try write(
            bytes, target: "\(path)/\(name)", temporary: "\(path)/\(temporary)", folder: path, placement: .replacing
        ) { () throws(AtomicFileError) in try AtomicFile(name, as: temporary, in: folder.descriptor, mode: mode) }
    }

    /// Writes a file of mode 0600 in one step, unless a file exists. The file is on the device when this returns.
    ///
    /// - Parameter temporary: its path until it is complete.
    static func write(
        _ bytes: UnsafeRawBufferPointer, unlessPresent path: String, as temporary: String
    ) throws(StorageError) {
        try write(
            bytes, target: path, temporary: temporary, folder: path.parentFolder ?? ".", placement: .unlessPresent
        ) {
            () throws(AtomicFileError) in try AtomicFile(path, as: temporary, mode: mode)
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, target: String, temporary: String, folder: String, placement: AtomicFile.Placement,
        create: () throws(AtomicFileError) -> AtomicFile
    ) throws(StorageError) {
        let (file, info): (AtomicFile, stat)
        do throws(AtomicFileError) {
            file = try create()
            info = try file.status()
        } catch {
            throw StorageError(error, target: target, temporary: temporary, folder: folder)
        }
        // A file system without permissions may give the file a mode that wasn't requested.
        try check(info, .file, temporary)
        do throws(AtomicFileError) {
            try file.write(bytes)
            try file.commit(placement, isDurable: true)
        } catch {
            throw StorageError(error, target: target, temporary: temporary, folder: folder)
        }
    }
}

/// For files that SQLite has open. SQLite's locks belong to the whole process, and the system drops them when any descriptor of
/// the file is closed anywhere in the process. So these functions use files by name, without opening an existing one.
extension PrivateFile {
    /// - Returns: nil if there is no such file.
    static func size(ofUnopened path: String) throws(StorageError) -> Int? {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return nil }
            throw StorageError(path, "can't be examined", errno: errno)
        }
        try check(info, .file, path)
        return Int(info.st_size)
    }

    /// Creates an empty file of mode 0600, unless the file exists.
    static func makeUnopened(_ path: String) throws(StorageError) {
        guard mknod(path, S_IFREG | mode, 0) == 0 || errno == EEXIST else {
            throw StorageError(path, "can't be created", errno: errno)
        }
        _ = try size(ofUnopened: path)
    }
}
