internal import Glibc

/// Files that SQLite has open. It locks them for the whole process, and the system drops those locks as soon as any descriptor of
/// the file is closed, wherever in the process that is. So they are examined by name.
extension PrivateFile {
    /// Nil: there is none.
    static func size(ofUnopened path: String) throws(StorageError) -> Int? {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return nil }
            throw StorageError(path, "can't be examined", errno: errno)
        }
        try check(info, .file, path)
        return Int(info.st_size)
    }

    /// An empty one of mode 0600, unless there is one.
    static func makeUnopened(_ path: String) throws(StorageError) {
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
            throw StorageError(path, "can't be made", errno: errno)
        }
        _ = try size(ofUnopened: path)
    }
}
