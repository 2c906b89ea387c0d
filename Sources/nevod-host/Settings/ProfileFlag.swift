/// A flag of a profile, with its place in the config file.
struct ProfileFlag: Sendable {
    let name: Flag.Name
    let value: String
    /// The line's number from 1.
    let line: Int

    init(_ name: Flag.Name, _ value: String, line: Int) {
        self.name = name
        self.value = value
        self.line = line
    }

    /// Names a part of a repeatable flag: a setting, a parameter, or a header in lower case. What is typed replaces all of a profile's
    /// values for the part. Nil for other flags, and for lines of a file.
    var key: String? {
        switch name {
        case .set, .param:
            value.utf8.firstIndex(of: UInt8(ascii: "=")).map { "\(name) \(value[..<$0])" }
        case .header where !value.hasPrefix("@"):
            "\(name) "
                + String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }, as: UTF8.self)
                .lowercased()
        default: nil
        }
    }

    /// The part of the value that names a source; nil for flags without one.
    var source: Substring? {
        guard let given = Flag.all.first(where: { $0.name == name })?.value else { return nil }
        if name == .storeKey { return value[...] }
        switch given.standardInput {
        case .assigned: return value.utf8.firstIndex(of: UInt8(ascii: "=")).map { value[$0...].dropFirst() }
        case .whole where given.kind == .text: return value[...]
        default: return nil
        }
    }

    /// Returns the value with paths that don't depend on the working directory: a source's path, and a path of its command, are relative
    /// to the config file's folder. `~/` in front of any file is the home folder, as no shell expands it here.
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
