internal import Glibc
internal import NevodSupport

/// A folder of small files that only this user can access. It is opened for each operation, so that a store still works after its
/// folder was moved or restored. Within an operation, every path is relative to the open folder.
struct PrivateDirectory: ~Copyable {
    private let folder: PrivateFile

    // No key's file has one of these names.
    private static let lockName = ".lock"
    private static let temporaryName = ".new"

    init(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOTDIR || errno == ELOOP else { throw StorageError(path, "can't be opened", errno: errno) }
            throw StorageError(
                .damaged, path, problem: "is not a folder, or is a symbolic link",
                remedy: "give the path of the folder itself", systemCode: errno)
        }
        folder = try PrivateFile(descriptor, .folder, path: path)
    }

    /// Creates the folder and its missing parents, each with mode 0700.
    static func make(_ path: String) throws(StorageError) {
        if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        if errno == ENOENT, let parent = path.parentFolder, parent != "/" {
            try make(parent)
            if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        }
        guard errno == EEXIST else { throw StorageError(path, "can't be created", errno: errno) }
    }

    /// Creates the folder for a new file, and checks that no other user can replace files there.
    static func makePlace(of path: String) throws(StorageError) {
        guard let folder = path.parentFolder, folder != "/" else { return }
        try make(folder)
        try checkPlace(folder)
    }

    /// Refuses a folder in which any user may replace files: a user who can remove a store can put an older one in its place.
    ///
    /// - Parameter path: an existing folder; symbolic links are followed.
    private static func checkPlace(_ path: String) throws(StorageError) {
        guard let resolved = realpath(path, nil) else { throw StorageError(path, "can't be examined", errno: errno) }
        defer { free(resolved) }
        var folder = String(cString: resolved)
        while true {
            var info = stat()
            guard stat(folder, &info) == 0 else { throw StorageError(folder, "can't be examined", errno: errno) }
            // In a folder with the sticky bit, such as /tmp, only a file's owner can replace it.
            guard info.st_mode & S_IWOTH == 0 || info.st_mode & S_ISVTX != 0 else {
                throw StorageError(
                    .permissions, folder,
                    problem: "any user may replace files in it (mode \(String(info.st_mode & 0o7777, radix: 8)))",
                    remedy: "chmod o-w '\(folder)', or choose another folder")
            }
            guard folder != "/", let parent = folder.parentFolder else { return }
            folder = parent
        }
    }

    private static func synchroniseParent(of path: String) throws(StorageError) {
        let parent = open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw StorageError(path, "can't be written to its device", errno: errno) }
    }

    private var place: PrivateFile.Folder { (folder.descriptor, folder.path) }
    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    // MARK: Values

    /// - Returns: nil if there is no such file.
    /// - Throws: `.tooLarge` if the file is larger than `limit` bytes.
    func read(_ name: String, upTo limit: Int) throws(StorageError) -> [UInt8]? {
        guard let file = try PrivateFile.existing(name, in: place) else { return nil }
        guard file.size <= limit else {
            throw StorageError(
                .tooLarge, path(name), problem: "holds \(file.size) bytes, more than \(limit)",
                remedy: "move it elsewhere: this store did not write it")
        }
        return try file.read()
    }

    /// Requires ``withLock(timeout:_:)``.
    func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
        try removeTemporary()
        try checkReplaceable(name)
        try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
            try PrivateFile.write(UnsafeRawBufferPointer(bytes), to: name, as: Self.temporaryName, in: folder)
        }
    }

    /// Requires ``withLock(timeout:_:)``.
    func remove(_ name: String) throws(StorageError) {
        try removeTemporary()
        guard unlinkat(folder.descriptor, name, 0) == 0 else {
            guard errno == ENOENT else { throw StorageError(path(name), "can't be removed", errno: errno) }
            return
        }
        try folder.synchronise()
    }

    /// Removes the file that a process left when it was killed during a write. Writers hold the lock, so no other process uses
    /// the file.
    private func removeTemporary() throws(StorageError) {
        guard unlinkat(folder.descriptor, Self.temporaryName, 0) == 0 || errno == ENOENT else {
            throw StorageError(path(Self.temporaryName), "can't be removed", errno: errno)
        }
    }

    /// Refuses to replace a symbolic link, since somebody put it there on purpose.
    private func checkReplaceable(_ name: String) throws(StorageError) {
        var info = stat()
        guard fstatat(folder.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFREG else { throw PrivateFile.isNot(.file, path(name)) }
    }

    /// Runs the body under a lock that excludes all other writers to this folder, in this process and others.
    ///
    /// - Parameter timeout: How long to wait for the lock; one write takes a few milliseconds.
    func withLock<Result>(
        timeout: Duration = .seconds(10), _ body: (borrowing PrivateDirectory) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let lock = try FileLock(Self.lockName, in: place, until: .now + timeout)
        defer { withExtendedLifetime(lock) {} }
        return try body(self)
    }
}

extension String {
    /// The folder of a path, without a slash at its end; nil for a name without a folder.
    var parentFolder: String? {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == startIndex ? "/" : String(self[..<$0]) }
    }

    /// The part of a path after its folder.
    var fileName: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
    }
}
