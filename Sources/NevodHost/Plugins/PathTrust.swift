#if canImport(Glibc)
    internal import CLinux
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks that only root and this user can change the file at a path. The user's private group counts as the user. The check
/// includes every folder above the file: with write access to one of them, another user can replace the file.
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

    /// Follows a path through symbolic links, as the system would. Returns the first place where others could change the target,
    /// and the reason; nil if there is none. A path to a missing file is safe if others can't create the file.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - isSearched: whether the path is a folder to which others must not add files either.
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

    /// Returns the folder and the reason if others could add a file to it. The sticky bit doesn't prevent that.
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
        // A umask of 002 lets the user's private group write files.
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

/// The group that many systems make for each user, with the user's name and no other member. A umask of 002 lets this group write
/// new files, which gives nobody else any rights.
package enum PrivateGroup {
    /// Whether a file has an access control list (acl(5)), or may have one. The mode's bits for the group are then the list's
    /// mask: they limit what other users and groups in the list may do.
    ///
    /// - Parameter path: of a file or a folder; a symbolic link is followed.
    package static func mayHaveAccessList(_ path: String) -> Bool {
        #if canImport(Glibc)
            getxattr(path, "system.posix_acl_access", nil, 0) >= 0 || errno != ENODATA && errno != ENOTSUP
        #else
            true
        #endif
    }

    /// Whether a group is the private group of this process's user: the user's primary group, with the user's name and no other
    /// member, and not another user's primary group. Never root's group, to which some systems add administrators.
    ///
    /// - Parameter group: a group's id.
    package static func isOwn(_ group: UInt32) -> Bool {
        #if canImport(Glibc)
            guard group != 0, let user = user(geteuid()), user.group == group else { return false }
            return members(of: group, named: user.name).map { $0.allSatisfy { $0 == user.name } } ?? false
                && !isPrimary(group, ofOthersThan: user.name)
        #else
            return false
        #endif
    }

    #if canImport(Glibc)

        /// Records of users and groups are read into a block of this size; a group with more members is not private.
        private static let blockSize = 65_536
        private static let mostUsers = 1_000_000

        private static func user(_ id: uid_t) -> (name: String, group: gid_t)? {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: blockSize) { block in
                var record = passwd()
                var found: UnsafeMutablePointer<passwd>?
                guard let start = block.baseAddress, getpwuid_r(id, &record, start, block.count, &found) == 0, found != nil,
                    let name = record.pw_name
                else {
                    return nil
                }
                return (String(cString: name), record.pw_gid)
            }
        }

        /// Returns nil if the group doesn't exist, or has another name.
        private static func members(of id: gid_t, named name: String) -> [String]? {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: blockSize) { block in
                var record = Glibc.group()
                var found: UnsafeMutablePointer<Glibc.group>?
                guard let start = block.baseAddress, getgrgid_r(id, &record, start, block.count, &found) == 0, found != nil,
                    let own = record.gr_name,
                    String(cString: own) == name
                else { return nil }
                var members: [String] = []
                var next = record.gr_mem
                while let place = next, let member = place.pointee {
                    members.append(String(cString: member))
                    next = place + 1
                }
                return members
            }
        }

        /// Reads the machine's own users. A directory service may have more users, but their groups have names of their own.
        private static func isPrimary(_ group: gid_t, ofOthersThan user: String) -> Bool {
            guard let file = fopen("/etc/passwd", "re") else { return true }
            defer { fclose(file) }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: blockSize) { block in
                for _ in 0..<mostUsers {
                    var record = passwd()
                    var found: UnsafeMutablePointer<passwd>?
                    guard let start = block.baseAddress else { return true }
                    let problem = fgetpwent_r(file, &record, start, block.count, &found)
                    // An entry that can't be read may be another user's.
                    guard problem == 0, found != nil else { return problem != ENOENT }
                    if record.pw_gid == group, record.pw_name.map({ String(cString: $0) }) != user { return true }
                }
                return true
            }
        }
    #endif
}
