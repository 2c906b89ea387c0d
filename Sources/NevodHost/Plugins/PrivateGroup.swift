#if canImport(Glibc)
    internal import CLinux
    internal import Glibc
#endif

/// The group that many systems make for each user alone, with the user's name. A umask of 002 lets this group write new files, which
/// gives nobody a right.
package enum PrivateGroup {
    /// Whether a file has an access control list (acl(5)), or may have one. The mode's bits for the group are then those of the list's
    /// mask: they say what other users and groups in the list may do.
    ///
    /// - Parameter path: of a file or a folder; a symbolic link is followed.
    package static func mayHaveAccessList(_ path: String) -> Bool {
        #if canImport(Glibc)
            getxattr(path, "system.posix_acl_access", nil, 0) >= 0 || errno != ENODATA && errno != ENOTSUP
        #else
            true
        #endif
    }

    /// Whether a group is the private one of this process's user: the user's primary group, of the same name, without another member,
    /// and no other user's primary group. Never the group of root, which some systems give to administrators.
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

        /// Reads the machine's own users. A directory service may have more, whose groups have names of their own.
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
