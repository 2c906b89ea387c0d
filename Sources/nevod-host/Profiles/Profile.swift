import NevodHost
import NevodSupport

/// A section of the config file.
struct Profile: Sendable {
    let name: String
    /// The config file.
    var path = ""
    /// The line of the section's name, from 1.
    var line = 0
    /// Whether other users can read the file.
    var isReadableByOthers = false
    /// The flags in order. They come before the command line's flags, so that the latter win.
    var flags: [ProfileFlag] = []
    /// The flags that the command doesn't take. They describe its other requests.
    var otherFlags: [ProfileFlag] = []
    /// The URL, without a fragment, to which a relative operand is appended.
    var baseURL: String?
    /// The line of ``baseURL``.
    var baseLine = 0
    /// The origins that may get its credentials: the origin of ``baseURL`` first, then the profile's `origins`.
    var origins: [Origin] = []

    /// Returns the flags that the command takes.
    func flags(for command: Command) -> [ProfileFlag] {
        flags.filter { given in
            Flag.flags(of: command).contains { $0.name == given.name }
        }
    }

    /// Returns the long name of the first flag that puts a credential on the command's requests; nil without such a flag.
    ///
    /// - Parameter undone: the flags that the command line takes back.
    func credential(for command: Command, without undone: Set<Flag.Name> = []) -> String? {
        flags(for: command).lazy.filter { !undone.contains($0.name) }.compactMap { given in
            Flag.all.first {
                $0.name == given.name && $0.isCredential && Self.mayHoldSecret(given)
            }
        }.first?.long
    }

    private static func mayHoldSecret(_ given: ProfileFlag) -> Bool {
        switch given.name {
        case .header: RequestBuilder.mayHoldSecret(given.value)
        // A part of the query counts if it reads a file: @FILE or NAME@FILE.
        case .urlQuery:
            given.value.utf8.first { "=@".utf8.contains($0) } == UInt8(ascii: "@") && given.value.utf8.first != UInt8(ascii: "+")
        default: true
        }
    }

    /// Returns the URL for an operand: with the base `https://host/v1?tenant=1`, `/orders?all` becomes
    /// `https://host/v1/orders?tenant=1&all`. An absolute operand stays the same, as does any operand without a base. Exactly one
    /// slash joins base and operand; nothing else is changed, not even `//` and `/../`. (By RFC 3986 §5, `/orders` would leave
    /// `/v1`.)
    func url(for operand: String) -> String {
        guard let baseURL, !Self.isAbsolute(operand) else { return operand }
        let (basePath, baseQuery) = Self.cut(baseURL[...], at: "?")
        let (rest, fragment) = Self.cut(operand[...], at: "#")
        let (path, query) = Self.cut(rest, at: "?")
        var url = String(basePath)
        if !path.isEmpty {
            if url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
            url += "/"
            url += path.utf8.first == UInt8(ascii: "/") ? String(decoding: path.utf8.dropFirst(), as: UTF8.self) : String(path)
        }
        let queries = [baseQuery, query].compactMap { $0 }.filter { !$0.isEmpty }
        // Keeps a question mark without a query if it was typed.
        if !queries.isEmpty || baseQuery != nil || query != nil { url += "?" + queries.joined(separator: "&") }
        if let fragment { url += "#" + fragment }
        return url
    }

    /// Whether an operand begins with a scheme (RFC 3986 §3.1) and `://`. Any other colon may be part of a path.
    private static func isAbsolute(_ operand: String) -> Bool {
        let scheme = operand.utf8.prefix(while: \.isSchemeByte)
        return scheme.first?.isLetter == true && operand.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }

    private static func cut(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }
}

extension Profile {
    /// The plugin's name or path in the profile; nil without a plugin.
    var plugin: String? { flags.last { $0.name == .plugin }?.value }
}

enum ProfileName {
    /// Refuses a name that a config file can't hold, and the word for no profile.
    static func check(_ name: String) throws(UsageError) {
        let isPlain = name.utf8.allSatisfy { !$0.isControl && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard !name.isEmpty, name.utf8.count <= 64, isPlain, name.first != " ", name.last != " ", name.first != "-",
            name != ProfileSelection.none
        else {
            throw UsageError(
                "\"\(TerminalText.safe(name))\" can't be a profile's name: write up to 64 bytes without [ ] and control characters, "
                    + "not \"none\", with no dash at the start and no space at the start or end")
        }
    }
}

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
    /// relative to the config file's folder. `~/` before any file is the home folder, as no shell expands it here.
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
