/// Changes the text of a valid config file. Comments, empty lines and the order of everything else stay as they are.
struct ConfigEditor {
    private var lines: [String]
    private let parser = ConfigParser(path: "")

    /// The byte order mark that some editors write.
    private let mark: [UInt8]

    init(_ bytes: [UInt8]) {
        mark = bytes.starts(with: "\u{FEFF}".utf8) ? Array("\u{FEFF}".utf8) : []
        // By bytes: a line break followed by a combining mark is one Character.
        lines = bytes.dropFirst(mark.count).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        // The empty text behind the last line break is no line.
        if lines.last?.isEmpty == true { lines.removeLast() }
    }

    var bytes: [UInt8] { mark + lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }

    /// Appends a section behind all others, after an empty line.
    mutating func append(_ name: String, _ entries: [String]) {
        if let last = lines.last, !last.isEmpty { lines.append("") }
        lines.append("[\(name)]")
        lines += entries
    }

    /// Removes a section. The comments above the next section, after an empty line, stay.
    mutating func remove(_ name: String) {
        guard let start = firstLine(of: name) else { return }
        let next = lines[(start + 1)...].firstIndex { parser.sectionName($0) != nil } ?? lines.endIndex
        let last = lines[start..<next].lastIndex { !parser.isRemark($0) } ?? start
        var end = last + 1
        // Comments directly below the last entry belong to it.
        while end < next, !Self.isEmpty(lines[end]) { end += 1 }
        // One of the empty lines around it goes as well.
        if end < next, Self.isEmpty(lines[end]) { end += 1 }
        lines.removeSubrange(start..<end)
    }

    mutating func rename(_ name: String, to new: String) {
        guard let line = firstLine(of: name), let close = lines[line].utf8.firstIndex(of: UInt8(ascii: "]")),
            let open = lines[line].utf8.firstIndex(of: UInt8(ascii: "["))
        else { return }
        lines[line] = lines[line][...open] + new + lines[line][close...]
    }

    /// - Parameter name: nil for no default.
    mutating func setDefault(_ name: String?) {
        let sections = lines.firstIndex { parser.sectionName($0) != nil } ?? lines.endIndex
        let entry = name.map { "default = \($0)" }
        if let line = lines[..<sections].firstIndex(where: parser.setsDefault) {
            lines.replaceSubrange(line...line, with: entry.map { [$0] } ?? [])
        } else if let entry {
            // Below the comments at the beginning, unless they stand directly above a section.
            let gap = lines[..<sections].lastIndex(where: Self.isEmpty).map { $0 + 1 } ?? 0
            lines.insert(contentsOf: sections == lines.endIndex ? [entry] : [entry, ""], at: gap)
        }
    }

    private func firstLine(of name: String) -> Int? { lines.firstIndex { parser.sectionName($0) == name } }

    private static func isEmpty(_ line: String) -> Bool { line.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
}
