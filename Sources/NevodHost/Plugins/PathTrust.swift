#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks that only root and this user can change the file at a path. The user's private group counts as the user. Every folder above it counts: with write access to one of
/// them, another user can replace the file.
package enum PathTrust {
    /// Returns the first path that others could change, and the reason; nil if there is none.
    ///
    /// - Parameter path: canonical.
    package static func problem(of path: String) -> (path: String, problem: String)? {
        var current = path
        while true {
            var info = stat()
            guard stat(current, &info) == 0 else { return (current, "can't be examined: \(String(cString: strerror(errno)))") }
            if let problem = problem(with: info, at: current) { return (current, problem) }
            guard current != "/" else { return nil }
            current = parent(of: current)
        }
    }
    /// Follows a path as the system would, through symbolic links, and returns the first place where others could change what it
    /// leads to, and the reason; nil if there is none. A path that leads nowhere is safe if others can't make what is missing.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - isSearched: the path is that of a folder to which others must not add a file either.
    package static func problem(along path: String, isSearched: Bool) -> (path: String, problem: String)? {
        var rest = Array(path.split(separator: "/").reversed())
        var current = "/"
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                current = parent(of: current)
                continue
            }
            let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
            var info = stat()
            guard lstat(next, &info) == 0 else {
                guard errno == ENOENT else { return (next, "can't be examined: \(String(cString: strerror(errno)))") }
                return addition(to: current).map { ($0.path, "\($0.problem), and \(name) is missing there") }
            }
            if info.st_mode & S_IFMT == S_IFLNK {
                links += 1
                guard info.st_uid == 0 || info.st_uid == geteuid() else {
                    return (next, "is a symbolic link of another user (uid \(info.st_uid))")
                }
                guard links <= 40, let target = target(ofLink: next) else {
                    return (next, "is a symbolic link that leads nowhere")
                }
                if target.hasPrefix("/") { current = "/" }
                rest += target.split(separator: "/").reversed()
                continue
            }
            if let problem = problem(with: info, at: next) { return (next, problem) }
            current = next
        }
        return isSearched ? addition(to: current) : nil
    }

    /// Returns the folder and the reason if others could add a file to it, for which the sticky bit is no obstacle.
    private static func addition(to folder: String) -> (path: String, problem: String)? {
        var info = stat()
        guard stat(folder, &info) == 0 else { return (folder, "can't be examined: \(String(cString: strerror(errno)))") }
        return problem(with: info, at: folder, isStickyEnough: false).map { (folder, $0) }
    }

    private static func problem(with info: stat, at path: String, isStickyEnough: Bool = true) -> String? {
        if info.st_uid != 0, info.st_uid != geteuid() { return "belongs to another user (uid \(info.st_uid))" }
        // In a folder with the sticky bit, such as /tmp, only a file's owner can replace it.
        let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
        guard info.st_mode & (S_IWGRP | S_IWOTH) != 0, !isSticky || !isStickyEnough else { return nil }
        // A umask of 002 makes such files.
        if info.st_mode & S_IWOTH == 0, PrivateGroup.isOwn(info.st_gid) {
            return PrivateGroup.mayHaveAccessList(path)
                ? "is writable by others, by an access control list (setfacl -b removes it)" : nil
        }
        let writers = info.st_mode & S_IWOTH != 0 ? "everyone" : "its group"
        return "is writable by \(writers) (mode \(String(info.st_mode & 0o7777, radix: 8)))"
    }

    private static func target(ofLink path: String) -> Substring? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self).map { $0[...] }
    }
}
