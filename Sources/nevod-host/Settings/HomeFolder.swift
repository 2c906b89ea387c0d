import Glibc
import NevodHost

/// The user's home folder, and the folders below it for settings and data.
enum HomeFolder {
    /// Replaces `~/` at the start of a path. Without a home folder, the path stays the same.
    static func expanding(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = trustedEnvironment("HOME"), home.hasPrefix("/") else { return path }
        return home + path.dropFirst()
    }

    /// Returns the folder that the variable names, or else the one below the home. Ignores a relative folder (XDG Base Directory
    /// Specification).
    static func folder(_ variable: String, _ below: String) -> String? {
        if let folder = environment(variable), folder.hasPrefix("/") { return folder }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/\(below)" : nil }
    }
}

/// Resolves a path against the working directory.
func absolutePath(_ path: String) throws -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = getcwd(nil, 0) else { throw InputError(".", errno) }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
}
