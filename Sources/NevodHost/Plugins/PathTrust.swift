#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks that only root and this user can change the file at a path. Every folder above it counts: with write access to one of
/// them, another user can replace the file.
enum PathTrust {
    /// Returns the first path that others could change, and the reason; nil if there is none.
    ///
    /// - Parameter path: canonical.
    static func problem(of path: String) -> (path: String, problem: String)? {
        var current = path
        while true {
            var info = stat()
            guard stat(current, &info) == 0 else { return (current, "can't be examined: \(String(cString: strerror(errno)))") }
            if info.st_uid != 0, info.st_uid != geteuid() {
                return (current, "belongs to another user (uid \(info.st_uid))")
            }
            // In a folder with the sticky bit, such as /tmp, only a file's owner can replace it.
            let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
            if info.st_mode & (S_IWGRP | S_IWOTH) != 0, !isSticky {
                let writers = info.st_mode & S_IWOTH != 0 ? "everyone" : "its group"
                return (current, "is writable by \(writers) (mode \(String(info.st_mode & 0o7777, radix: 8)))")
            }
            guard current != "/" else { return nil }
            current = parent(of: current)
        }
    }
}
