import Glibc
import NevodHost
import NevodSupport

/// Writes the config file: atomically, under a lock, and readable only by this user.
struct ConfigWriter {
    let path: String

    init() throws(UsageError) {
        guard let path = ConfigFile.defaultPath() else {
            throw UsageError("there is no home directory for a config file; set HOME or XDG_CONFIG_HOME")
        }
        self.path = path
    }

    var folder: String { Self.folder(of: path) }

    /// Changes the file's current content, which may differ from what was read earlier. Doesn't write a result that can't be
    /// parsed.
    func change(_ edit: (_ file: ConfigFile?, _ text: inout ConfigEditor) throws -> Void) throws {
        try replace { file in
            var editor = ConfigEditor(file?.bytes ?? [])
            try edit(file, &editor)
            return editor.bytes
        }
    }

    func replace(_ content: (_ file: ConfigFile?) throws -> [UInt8]) throws {
        try Self.createFolder(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw OutputError(folder, errno) }
        defer { close(lock) }
        try Activity.during("waiting for another program that changes \(path)") {
            while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw OutputError(folder, errno) } }
        }
        let bytes = try content(try ConfigFile.load(path: path))
        _ = try ConfigFile(path: path, bytes: bytes)
        // A link stays; its target is replaced.
        try Self.write(bytes, to: canonicalPath(path) ?? path)
    }

    /// Writes a file of mode 0600 atomically.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError) {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(OutputDestination.temporaryPrefix(for: path), for: path)
            file.setMode(0o600)
            try file.write(bytes)
            try file.commit(isDurable: true)
        } catch { throw OutputError(path, error.code) }
    }

    /// Writes a new file of mode 0600 atomically. If the file exists, returns false and writes nothing.
    static func create(_ bytes: [UInt8], at path: String) throws(OutputError) -> Bool {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(OutputDestination.temporaryPrefix(for: path), for: path)
            file.setMode(0o600)
            try file.write(bytes)
            try file.commit(.exclusively, isDurable: true)
            return true
        } catch {
            guard error.code != EEXIST else { return false }
            throw OutputError(path, error.code)
        }
    }

    /// Creates a folder of mode 0700, and the folders above it.
    static func createFolder(_ path: String) throws(OutputError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, path.utf8.count > 1 else { throw OutputError(path, errno) }
        try createFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw OutputError(path, errno) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// Changes the text of a valid config file. Keeps comments, empty lines and the order of everything else.
struct ConfigEditor {
    private var lines: [String]
    private let parser = ConfigParser(path: "")

    /// The byte order mark that some editors write.
    private let mark: [UInt8]

    init(_ bytes: [UInt8]) {
        let text = bytes.withoutByteOrderMark
        mark = Array(bytes[..<text.startIndex])
        // Splits by bytes: a line break followed by a combining mark is a single Character.
        lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        // The empty text after the last line break isn't a line.
        if lines.last?.isEmpty == true { lines.removeLast() }
    }

    var bytes: [UInt8] { mark + lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }

    /// Appends a section at the end, after an empty line.
    mutating func append(_ name: String, _ entries: [String]) {
        if let last = lines.last, !last.isEmpty { lines.append("") }
        lines.append("[\(name)]")
        lines += entries
    }

    /// Removes a section. Comments above the next section stay if an empty line separates them from this one.
    mutating func remove(_ name: String) {
        guard let start = firstLine(of: name) else { return }
        let next = lines[(start + 1)...].firstIndex { parser.sectionName($0) != nil } ?? lines.endIndex
        let last = lines[start..<next].lastIndex { !parser.isRemark($0) } ?? start
        var end = last + 1
        // Comments directly below the last entry belong to it.
        while end < next, !Self.isEmpty(lines[end]) { end += 1 }
        // Removes one of the empty lines around the section as well.
        if end < next, Self.isEmpty(lines[end]) { end += 1 }
        lines.removeSubrange(start..<end)
    }

    mutating func rename(_ name: String, to new: String) {
        guard let line = firstLine(of: name), let close = lines[line].utf8.firstIndex(of: UInt8(ascii: "]")),
            let open = lines[line].utf8.firstIndex(of: UInt8(ascii: "["))
        else { return }
        lines[line] = lines[line][...open] + new + lines[line][close...]
    }

    /// - Parameter name: the default profile; nil for no default.
    mutating func setDefault(_ name: String?) {
        let sections = lines.firstIndex { parser.sectionName($0) != nil } ?? lines.endIndex
        let entry = name.map { "default = \($0)" }
        if let line = lines[..<sections].firstIndex(where: parser.setsDefault) {
            lines.replaceSubrange(line...line, with: entry.map { [$0] } ?? [])
        } else if let entry {
            // Inserts the line below the comments at the start, unless a section follows them without an empty line.
            let gap = lines[..<sections].lastIndex(where: Self.isEmpty).map { $0 + 1 } ?? 0
            lines.insert(contentsOf: sections == lines.endIndex ? [entry] : [entry, ""], at: gap)
        }
    }

    private func firstLine(of name: String) -> Int? { lines.firstIndex { parser.sectionName($0) == name } }

    private static func isEmpty(_ line: String) -> Bool { line.utf8.allSatisfy(\.isBlankOrLineBreak) }
}
