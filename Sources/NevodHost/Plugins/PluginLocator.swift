#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Finds a plugin's library. A name with a slash is a path; a bare name is looked up in folders, but never in the working
/// directory, where anybody may have put a file.
///
/// A bare name is the name of a file (`libHMACAuth.so`) or of a plugin (`HMACAuth`), or a short name: the part between `lib` and
/// `Auth.so`, in upper or lower case (`hmac`).
public struct PluginLocator: Sendable {
    /// Absolute paths, searched in this order.
    package let folders: [String]

    /// - Parameter folders: absolute paths, searched in this order. A relative path would depend on the working directory.
    public init(folders: [String]) {
        self.folders = folders
    }

    /// Searches `NEVOD_PLUGIN_PATH`, then the folders of the user, the system, the executable and its installation. A program
    /// with more rights than its user, such as a set-user-ID program, ignores the user's variables.
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
    /// - Parameter name: a path (`./libHMACAuth.so`), the name of a file (`libHMACAuth.so`) or of a plugin (`HMACAuth`), or a
    ///   short name (`hmac`). An exact name in any folder takes precedence over a short name.
    package func find(_ name: String) throws(PluginError) -> String {
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
        guard !name.contains("/") else { throw PluginError(name, .notFound(searched: candidates)) }
        // The folders are read only if no file has the exact name.
        let files = files
        let short = Self.shortName(of: name)
        let found = files.filter { Self.shortName(of: $0.name) == short }
        guard let first = found.first else {
            throw PluginError(name, .notFound(searched: candidates))
        }
        guard found.count == 1 else { throw PluginError(name, .ambiguousName(found: found.map(\.path))) }
        guard let path = canonicalPath(first.path) else { throw PluginError(name, .notFound(searched: candidates)) }
        return path
    }

    /// The short names of the plugins in the folders, sorted: `hmac` for `libHMACAuth.so`.
    package var shortNames: [String] { Set(files.map { Self.shortName(of: $0.name) }).sorted() }

    /// The libraries in the folders. If several have the same name, the first one counts, as with exact names.
    private var files: [(name: String, path: String)] {
        var files: [(name: String, path: String)] = []
        var seen: Set<String> = []
        for folder in folders {
            guard let directory = opendir(folder) else { continue }
            defer { closedir(directory) }
            var names: [String] = []
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if let name, name.hasSuffix(".so"), name.utf8.count > 3 { names.append(name) }
            }
            for name in names.sorted() where seen.insert(name).inserted { files.append((name, "\(folder)/\(name)")) }
        }
        return files
    }

    /// Returns a name in lower case, without `lib`, `.so` and `Auth`.
    package static func shortName(of name: String) -> String {
        var short = name.lowercased()[...]
        if short.hasSuffix(".so") { short = short.dropLast(3) }
        if short.hasPrefix("lib"), short != "lib" { short = short.dropFirst(3) }
        if short.hasSuffix("auth"), short != "auth" { short = short.dropLast(4) }
        return String(short)
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
