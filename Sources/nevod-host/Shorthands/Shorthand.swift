/// The words around a URL: a method in front of it, and behind it items such as `name=value`.
struct Shorthand: Sendable {
    var method: String?
    var items: [RequestItem] = []

    /// Takes URLs and the words around them apart.
    ///
    /// A word behind a URL is an item if it has a separator of items before any `/`, `?` or `#`, and doesn't look like `host:port`.
    /// A word of capital letters in front of a URL is the method.
    static func transfers(
        _ operands: [ArgumentGroups.Operand]
    ) throws(UsageError) -> [(url: String, shorthand: Shorthand)] {
        var transfers: [(url: String, shorthand: Shorthand)] = []
        var method: String?
        for (index, operand) in operands.enumerated() {
            guard case .word(let word) = operand else {
                transfers.append((operand.text, Shorthand(method: method)))
                method = nil
                continue
            }
            let item = isURL(word) ? nil : try RequestItem(word)
            if let item, method == nil, !transfers.isEmpty {
                transfers[transfers.count - 1].shorthand.items.append(item)
            } else if method == nil, isMethod(word), index + 1 < operands.count, isURL(operands[index + 1]) {
                method = word
            } else {
                if let item, item.kind.isMarkedByEquals {
                    throw UsageError(
                        "the item \"\(item.name)\(item.kind.rawValue)…\" stands in front of the URL; write it behind, "
                            + "or --url for a URL with such a name")
                }
                transfers.append((word, Shorthand(method: method)))
                method = nil
            }
        }
        return transfers
    }

    /// The flags that the method and the header items stand for.
    ///
    /// - Parameter hasMethod: whether `-X` is given.
    func flags(_ hasMethod: Bool) throws -> [(name: Flag.Name, value: String)] {
        var flags: [(name: Flag.Name, value: String)] = []
        if let method {
            guard !hasMethod else { throw UsageError("the method is given twice: \(method) in front of the URL, and -X") }
            flags.append((.method, method))
        }
        for item in items {
            switch item.kind {
            // A line whose name begins with @ would be read as a file of lines.
            case .header, .headerFile, .emptyHeader:
                guard !item.name.hasPrefix("@") else { throw UsageError("\"\(item.name)\" can't be the name of a header line") }
                let value = item.kind == .headerFile ? try item.headerFromFile() : item.value
                let line = item.kind == .emptyHeader ? "\(item.name);" : "\(item.name):\(value.isEmpty ? "" : " ")\(value)"
                if item.kind == .headerFile { FileSecrets.mark(headerLine: line) }
                flags.append((.header, line))
            default: break
            }
        }
        return flags
    }

    private static func isMethod(_ word: String) -> Bool {
        word.utf8.count >= 3 && word.utf8.allSatisfy { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    }

    private static func isURL(_ operand: ArgumentGroups.Operand) -> Bool {
        if case .word(let word) = operand { isURL(word) } else { true }
    }

    /// Whether a word can't be an item.
    private static func isURL(_ word: String) -> Bool {
        guard let mark = word.utf8.firstIndex(where: { ":;=@/?#\\".utf8.contains($0) }) else { return true }
        switch word.utf8[mark] {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return true
        case UInt8(ascii: ":"): break
        default: return false
        }
        let rest = word.utf8[mark...].dropFirst()
        // `https://…`, and the address of IPv6 in brackets.
        let isAddress = word.hasPrefix("[") && !word.utf8[..<mark].contains(UInt8(ascii: "]")) && rest.contains(UInt8(ascii: "]"))
        if rest.starts(with: "//".utf8) || isAddress { return true }
        // `host:port`, since no header's name has a dot.
        let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let name = word.utf8[..<mark]
        guard !digits.isEmpty, name.contains(UInt8(ascii: ".")) || name.elementsEqual("localhost".utf8) else { return false }
        guard let next = rest.dropFirst(digits.count).first else { return true }
        return "/?#".utf8.contains(next)
    }
}
