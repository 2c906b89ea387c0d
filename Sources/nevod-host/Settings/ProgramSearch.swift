import Glibc
import NevodHost
import NevodSupport

/// Finds a program as posix_spawnp(3) does, but in a trusted PATH only: that would take the PATH of any user.
enum ProgramSearch {
    /// Returns the path of an executable file; nil if there is none.
    ///
    /// - Parameter name: a path, if it has a slash; `~/` is the home folder.
    static func path(of name: String) -> String? {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            let path = HomeFolder.expanding(name)
            return access(path, X_OK) == 0 ? path : nil
        }
        return (trustedEnvironment("PATH") ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }.first {
            access($0, X_OK) == 0
        }
    }
}

/// The user's home folder.
enum HomeFolder {
    /// Replaces `~/` at the beginning of a path. Without a home folder, the path stays.
    static func expanding(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = trustedEnvironment("HOME"), home.hasPrefix("/") else { return path }
        return home + path.dropFirst()
    }
}
