internal import Glibc

/// For files that SQLite has open. SQLite locks them for the whole process, and the system drops those locks when any descriptor of
/// the file is closed anywhere in the process. So these functions examine files by name, without opening them.
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

    /// Creates an empty file of mode 0600, unless there is one.
    static func makeUnopened(_ path: String) throws(StorageError) {
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
            throw StorageError(path, "can't be created", errno: errno)
        }
        _ = try size(ofUnopened: path)
    }
}
