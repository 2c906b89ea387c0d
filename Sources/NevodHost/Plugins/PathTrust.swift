#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Whether nobody but root and this user can change what a path leads to. Every folder on the way counts: who may write to
/// one of them can put another file in the place of ours.
enum PathTrust {
    /// Nil, or the path that is to blame and why.
    /// - Parameter path: canonical.
    static func problem(of path: String) -> (path: String, problem: String)? {
        var current = path
        while true {
            var info = stat()
            guard stat(current, &info) == 0 else { return (current, "can't be examined: \(String(cString: strerror(errno)))") }
            if info.st_uid != 0, info.st_uid != geteuid() {
                return (current, "belongs to another user (uid \(info.st_uid))")
            }
            // In a folder with the sticky bit, such as /tmp, others can't replace what isn't theirs.
            let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
            if info.st_mode & (S_IWGRP | S_IWOTH) != 0, !isSticky {
                let whom = info.st_mode & S_IWOTH != 0 ? "everyone" : "its group"
                return (current, "may be written by \(whom) (mode \(String(info.st_mode & 0o7777, radix: 8)))")
            }
            guard current != "/" else { return nil }
            current = parent(of: current)
        }
    }
}
