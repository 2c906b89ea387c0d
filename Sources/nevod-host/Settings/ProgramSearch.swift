import Glibc
import NevodHost

/// Finds a program as posix_spawnp(3) does, but only in a trusted PATH: in a set-user-ID program, posix_spawnp would use the
/// caller's PATH.
enum ProgramSearch {
    /// Returns the path of an executable file; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: with a slash, a path; `~/` is the home folder.
    ///   - folders: where to look for a name without a slash, separated by colons.
    static func path(of name: String, in folders: String = trustedEnvironment("PATH") ?? "/usr/bin:/bin") -> String? {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            let path = HomeFolder.expanding(name)
            return access(path, X_OK) == 0 ? path : nil
        }
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
