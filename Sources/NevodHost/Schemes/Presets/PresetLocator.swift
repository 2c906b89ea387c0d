#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Finds presets: `FOLDER/SCHEME/NAME.preset`, in several folders. If several folders have a preset of that name, the first one
/// counts.
public struct PresetLocator: Sendable {
    private let folders: [String]

    static let suffix = ".preset"

    /// - Parameter folders: absolute paths, searched in this order. A relative path would depend on the working directory.
    public init(folders: [String]) {
        self.folders = folders
    }

    /// Searches `nevod-host/presets` in the user's configuration (`XDG_CONFIG_HOME`, `~/.config`), then
    /// `share/nevod-host/presets` of the system and of the executable's installation, then the checkout in which the executable
    /// was built. A program with more rights than its user, such as a set-user-ID program, ignores the user's variables.
    public static let standard: PresetLocator = {
        var folders: [String] = []
        if let config = trustedEnvironment("XDG_CONFIG_HOME"), config.hasPrefix("/") {
            folders.append("\(config)/nevod-host/presets")
        } else if let home = trustedEnvironment("HOME"), home.hasPrefix("/") {
            folders.append("\(home)/.config/nevod-host/presets")
        }
        folders += ["/usr/local/share/nevod-host/presets", "/usr/share/nevod-host/presets"]
        if let executable = canonicalPath("/proc/self/exe") {
            var folder = parent(of: executable)
            folders.append("\(parent(of: folder))/share/nevod-host/presets")
            while folder != "/" {
                if access("\(folder)/Package.swift", R_OK) == 0 {
                    folders.append("\(folder)/Presets")
                    break
                }
                folder = parent(of: folder)
            }
        }
        return PresetLocator(folders: folders)
    }()

    /// Returns the canonical path of a preset; nil if there is none.
    func path(of name: String, for scheme: String) -> String? {
        guard PresetText.isName(name), PresetText.isName(scheme) else { return nil }
        return folders.lazy.compactMap { canonicalPath("\($0)/\(scheme)/\(name)\(Self.suffix)") }.first
    }

    /// The names of the presets for a scheme, sorted.
    package func names(for scheme: String) -> [String] {
        guard PresetText.isName(scheme) else { return [] }
        let files = folders.flatMap { Self.entries(of: "\($0)/\(scheme)") }.filter { $0.hasSuffix(Self.suffix) }
        return Set(files.map { String($0.dropLast(Self.suffix.utf8.count)) }.filter(PresetText.isName)).sorted()
    }

    /// The ids of the schemes that have presets, sorted.
    package var schemes: [String] {
        Set(folders.flatMap(Self.entries).filter(PresetText.isName)).sorted().filter { !names(for: $0).isEmpty }
    }

    /// The title of a preset, and the names of its placeholders. Needs no plugin.
    package func summary(of name: String, for scheme: String) throws(PresetError) -> (title: String, placeholders: [String])? {
        guard let path = path(of: name, for: scheme) else { return nil }
        let text = try PresetText(path: path, mayReadEnvironment: true)
        return (text.title, text.placeholders.map(\.name))
    }

    private static func entries(of folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { names.append(name) }
        }
        return names
    }
}
