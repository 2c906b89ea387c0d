import NevodHost
import NevodSupport

/// What the paths in a profile are relative to.
extension ProfileFlag {
    /// The part of the value that names a source; nil for flags without sources.
    var source: Substring? {
        guard let given = Flag.all.first(where: { $0.name == name })?.value else { return nil }
        if name == .storeKey { return value[...] }
        switch given.standardInput {
        case .assigned: return value.utf8.firstIndex(of: UInt8(ascii: "=")).map { value[$0...].dropFirst() }
        case .whole where given.kind == .text: return value[...]
        default: return nil
        }
    }

    /// Returns the value with paths that don't depend on the working directory. A source's path, and a path in its command, are
    /// relative to the config file's folder. `~/` at the start of any path is the home folder, because no shell expands it here.
    func resolved(in folder: String) -> String {
        if let source {
            let lead = value[..<source.startIndex]
            return lead + Self.resolved(source: String(source), in: folder)
        }
        switch Flag.all.first(where: { $0.name == name })?.value?.kind {
        case .file, .folder, .plugin: return HomeFolder.expanding(value)
        default: return value
        }
    }

    static func resolved(source: String, in folder: String) -> String {
        let path = { (path: String) in
            path.isEmpty || path == "-" || path.hasPrefix("/") || path.hasPrefix("~/") ? path : "\(folder)/\(path)"
        }
        switch SecretSource.Kind(of: source) {
        case .file: return "file:" + path(String(source.dropFirst(5)))
        case .command:
            guard let words = try? CommandWords.split(String(source.dropFirst(8))), words[0].contains("/") else { return source }
            return "command:" + ([path(words[0])] + words.dropFirst()).map(ShellWord.quoted).joined(separator: " ")
        default: return source
        }
    }
}
