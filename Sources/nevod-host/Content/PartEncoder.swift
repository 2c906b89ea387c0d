import NevodSupport

/// The encoding of a form's part (`;encoder=`, RFC 2045 §6), as curl writes it.
enum PartEncoder: String, CaseIterable {
    case binary
    case eightBit = "8bit"
    case sevenBit = "7bit"
    case base64
    case quotedPrintable = "quoted-printable"

    init(named name: String) throws(UsageError) {
        guard let encoder = PartEncoder(rawValue: name.lowercased()) else {
            let names = Self.allCases.map(\.rawValue)
            throw UsageError(
                "-F: ;encoder=\(name) is unknown; write \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
        }
        self = encoder
    }

    /// The longest line (RFC 2045 §6.7, §6.8).
    private static let lineLength = 76

    /// Whether the content is sent as it is, so that it needn't be read first.
    var keepsContent: Bool { self == .binary || self == .eightBit }

    /// - Throws: ``UsageError`` if the content can't be encoded this way.
    func encoded(_ content: [UInt8]) throws(UsageError) -> [UInt8] {
        switch self {
        case .binary, .eightBit: return content
        case .sevenBit:
            guard content.allSatisfy({ $0 < 0x80 }) else {
                throw UsageError("-F: the content has bytes above 127, which ;encoder=7bit can't send; write ;encoder=base64")
            }
            return content
        case .base64: return Self.base64(content)
        case .quotedPrintable: return Self.quotedPrintable(content)
        }
    }

    private static func base64(_ content: [UInt8]) -> [UInt8] {
        let digits = Array(Base64.encoded(content).utf8)
        var lines: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: lineLength) {
            if start > 0 { lines += [13, 10] }
            lines += digits[start..<min(start + lineLength, digits.count)]
        }
        return lines
    }

    private static func quotedPrintable(_ content: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var column = 0
        var index = 0
        func isLineEnd(_ index: Int) -> Bool {
            index + 1 < content.count && content[index] == 13 && content[index + 1] == 10
        }
        while index < content.count {
            let byte = content[index]
            if isLineEnd(index) {
                text += [13, 10]
                column = 0
                index += 2
                continue
            }
            let isAtEnd = index + 1 == content.count || isLineEnd(index + 1)
            let isPlain = byte.isBlank ? !isAtEnd : byte.isVisible && byte != UInt8(ascii: "=")
            let piece = isPlain ? [byte] : [UInt8(ascii: "=")] + Array(Hexadecimal.text([byte]).uppercased().utf8)
            // The last column is reserved for the `=` that continues the line, unless the line ends here.
            if column + piece.count > (isAtEnd ? lineLength : lineLength - 1) {
                text += [UInt8(ascii: "="), 13, 10]
                column = 0
            }
            text += piece
            column += piece.count
            index += 1
        }
        return text
    }
}
