#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Finds a plugin's library. A name with a slash is a path; a bare name is looked up in folders, but never in the working
/// directory, where anybody may have put a file.
public struct PluginLocator: Sendable {
    /// Absolute paths, searched in this order.
    let folders: [String]

    /// - Parameter folders: absolute paths, searched in this order. A relative path would depend on the working directory.
    public init(folders: [String]) {
        self.folders = folders
    }

    /// Searches `NEVOD_PLUGIN_PATH`, then the folders of the user, the system, the executable and its installation. A program with
    /// more rights than its user, such as a set-user-ID one, ignores the user's variables.
    public static let standard: PluginLocator = {
        var folders = (trustedEnvironment("NEVOD_PLUGIN_PATH") ?? "").split(separator: ":").map(String.init)
            // An empty or relative entry would lead to the working directory.
            .filter { $0.hasPrefix("/") }
        if let data = trustedEnvironment("XDG_DATA_HOME"), data.hasPrefix("/") {
            folders.append("\(data)/nevod/plugins")
        } else if let home = trustedEnvironment("HOME"), home.hasPrefix("/") {
            folders.append("\(home)/.local/share/nevod/plugins")
        }
        folders += ["/usr/local/lib/nevod/plugins", "/usr/lib/nevod/plugins"]
        if let executable = canonicalPath("/proc/self/exe") {
            let folder = parent(of: executable)
            folders += [folder, "\(parent(of: folder))/lib/nevod/plugins"]
        }
        return PluginLocator(folders: folders)
    }()

    /// Returns the canonical path of a plugin's library.
    ///
    /// - Parameter name: a path (`./libHMACAuth.so`), the name of a file (`libHMACAuth.so`) or of a plugin (`HMACAuth`).
    func find(_ name: String) throws(PluginError) -> String {
        let candidates: [String]
        if name.contains("/") {
            candidates = [name]
        } else {
            let files = name.hasSuffix(".so") ? [name] : ["lib\(name).so", "\(name).so"]
            candidates = folders.flatMap { folder in files.map { "\(folder)/\($0)" } }
        }
        for candidate in candidates {
            if let found = canonicalPath(candidate) { return found }
        }
        throw PluginError(name, .notFound(searched: candidates))
    }
}

/// Returns the absolute path without symbolic links; nil if there is no such file.
package func canonicalPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func parent(of path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
