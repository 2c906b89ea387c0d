#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Where plugins are found. A name with a slash is a path; a bare name is looked up in folders, and never in the working
/// directory: what lies there may be anybody's.
public struct PluginLocator: Sendable {
    /// Searched in this order; absolute paths.
    public let folders: [String]

    /// - Parameter folders: absolute paths. A relative one would depend on the working directory.
    public init(folders: [String]) {
        self.folders = folders
    }

    /// `NEVOD_PLUGIN_PATH`, the user's folder, the system's, the executable's own, and that of its installation.
    public static let standard: PluginLocator = {
        var folders = (environment("NEVOD_PLUGIN_PATH") ?? "").split(separator: ":").map(String.init)
            // An empty or relative entry would be the working directory under another name.
            .filter { $0.hasPrefix("/") }
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            folders.append("\(data)/nevod/plugins")
        } else if let home = environment("HOME"), home.hasPrefix("/") {
            folders.append("\(home)/.local/share/nevod/plugins")
        }
        folders += ["/usr/local/lib/nevod/plugins", "/usr/lib/nevod/plugins"]
        if let executable = canonicalPath("/proc/self/exe") {
            let folder = parent(of: executable)
            folders += [folder, "\(parent(of: folder))/lib/nevod/plugins"]
        }
        return PluginLocator(folders: folders)
    }()

    /// The canonical path of a plugin's library.
    ///
    /// - Parameter name: a path (`./libHMACAuth.so`), a file's name (`libHMACAuth.so`), or a plugin's (`HMACAuth`).
    public func find(_ name: String) throws(PluginError) -> String {
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

/// Absolute and without links; nil when there is no such file.
package func canonicalPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func parent(of path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
