/// Reads the text after the name of a `-F`, as curl does: words, possibly in quotes, that end at a semicolon, or at a comma
/// between files.
struct FormPartReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Whether nothing but options follows an opening parenthesis.
    var isGroup: Bool { bytes.count == offset + 1 || bytes[offset + 1] == UInt8(ascii: ";") }

    /// Reads a path and its options, from the mark before it: `@`, `<` or a comma.
    mutating func file(endsAtComma: Bool) throws(UsageError) -> FormPart.File {
        offset += 1
        var file = FormPart.File()
        file.path = word { $0 == UInt8(ascii: ";") || endsAtComma && $0 == UInt8(ascii: ",") }
        try readOptions(into: &file, endsAtComma: endsAtComma)
        return file
    }

    /// Reads a text and its options. A semicolon without an option after it is part of the text. (curl drops the rest.)
    mutating func text() throws(UsageError) -> FormPart.File {
        var file = FormPart.File()
        if next == UInt8(ascii: "\"") {
            file.path = word { $0 == UInt8(ascii: ";") }
        } else {
            let start = offset
            while offset < bytes.count, !isOption(at: offset) { offset += 1 }
            file.path = String(decoding: bytes[start..<offset], as: UTF8.self)
        }
        try readOptions(into: &file, endsAtComma: false)
        return file
    }

    func checkEnd(_ text: String) throws(UsageError) {
        guard offset >= bytes.count else {
            let rest = String(decoding: bytes[offset...], as: UTF8.self)
            throw UsageError(
                "-F \(text): \"\(rest)\" is not understood; after the content, write ;type=, ;filename=, ;headers= or ;encoder=")
        }
    }

    private static let options = ["type=", "filename=", "headers=", "encoder="]

    /// Returns the option after the semicolon at an offset.
    private func option(at semicolon: Int) -> String? {
        guard semicolon < bytes.count, bytes[semicolon] == UInt8(ascii: ";") else { return nil }
        let rest = bytes[(semicolon + 1)...].drop { $0 == 0x20 }
        return Self.options.first { rest.starts(with: $0.utf8) }
    }

    private func isOption(at offset: Int) -> Bool { option(at: offset) != nil }

    private mutating func readOptions(into file: inout FormPart.File, endsAtComma: Bool) throws(UsageError) {
        while let option = option(at: offset) {
            offset += 1
            while next == 0x20 { offset += 1 }
            offset += option.utf8.count
            let isEnd = { (byte: UInt8) in byte == UInt8(ascii: ";") || endsAtComma && byte == UInt8(ascii: ",") }
            switch option {
            case "type=": file.type = try type(isEnd)
            case "filename=": file.fileName = word(until: isEnd)
            case "headers=":
                if let mark = next, mark == UInt8(ascii: "@") || mark == UInt8(ascii: "<") {
                    offset += 1
                    file.headers.append(.file(path: word(until: isEnd)))
                } else {
                    file.headers.append(.line(word(until: isEnd)))
                }
            default: file.encoder = try PartEncoder(named: word(until: isEnd))
            }
        }
    }

    /// Reads a media type with its parameters. Text after a semicolon is a parameter, unless it is an option.
    private mutating func type(_ isEnd: (UInt8) -> Bool) throws(UsageError) -> String {
        let start = offset
        while let byte = next, !(byte == UInt8(ascii: ";") && isOption(at: offset)), byte == UInt8(ascii: ";") || !isEnd(byte) {
            offset += 1
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/"))
        guard let slash, slash > text.utf8.startIndex, text.utf8.index(after: slash) < text.utf8.endIndex else {
            throw UsageError("-F: \"\(text)\" is not a media type; write ;type=text/plain")
        }
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    /// Reads a word. In quotes, it may contain the end mark. A backslash in quotes escapes a quote or a backslash.
    private mutating func word(until isEnd: (UInt8) -> Bool) -> String {
        let start = offset
        if next == UInt8(ascii: "\"") {
            offset += 1
            var quoted: [UInt8] = []
            while let byte = next {
                if byte == UInt8(ascii: "\\"), offset + 1 < bytes.count,
                    [UInt8(ascii: "\\"), UInt8(ascii: "\"")].contains(bytes[offset + 1])
                {
                    quoted.append(bytes[offset + 1])
                    offset += 2
                } else if byte == UInt8(ascii: "\"") {
                    offset += 1
                    // Spaces may follow; anything else means that the quotes are part of the word.
                    let end = offset
                    while next == 0x20 { offset += 1 }
                    if next.map(isEnd) != false { return String(decoding: quoted, as: UTF8.self) }
                    offset = end
                    break
                } else {
                    quoted.append(byte)
                    offset += 1
                }
            }
            offset = start
        }
        while let byte = next, !isEnd(byte) { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }
}
