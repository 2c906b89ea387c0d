internal import NevodSupport

/// The items of a query or a form, between `&`, as they are written.
struct QueryItems: ~Escapable {
    private let text: Span<UInt8>
    private var position = 0
    private var isAtEnd: Bool

    /// Ranges of the text.
    struct Item {
        let start: Int
        /// The end of the name, where the `=` is, if there is one.
        let nameEnd: Int
        let end: Int

        var hasEquals: Bool { nameEnd < end }
        var valueStart: Int { min(nameEnd + 1, end) }
    }

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = text
        isAtEnd = text.isEmpty
    }

    @_lifetime(self: copy self)
    mutating func next() -> Item? {
        guard !isAtEnd else { return nil }
        let start = position
        var nameEnd = -1
        while position < text.count, text[position] != UInt8(ascii: "&") {
            if nameEnd < 0, text[position] == UInt8(ascii: "=") { nameEnd = position }
            position += 1
        }
        let item = Item(start: start, nameEnd: nameEnd < 0 ? position : nameEnd, end: position)
        isAtEnd = position == text.count
        position += 1
        return item
    }

    /// Whether a name is that one, decoded.
    static func decodes(_ text: Span<UInt8>, to name: ArraySlice<UInt8>) -> Bool {
        var index = 0
        var position = name.startIndex
        while index < text.count {
            guard position < name.endIndex else { return false }
            let byte: UInt8
            if let escaped = PercentEncoding.byte(escapedAt: index, in: text) {
                byte = escaped
                index += 3
            } else {
                byte = text[index] == UInt8(ascii: "+") ? 0x20 : text[index]
                index += 1
            }
            guard byte == name[position] else { return false }
            position += 1
        }
        return position == name.endIndex
    }
}

extension PercentEncoding {
    /// The decoded bytes of a name or a value.
    static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if let byte = byte(escapedAt: index, in: text) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(plusIsSpace && text[index] == UInt8(ascii: "+") ? 0x20 : text[index])
                index += 1
            }
        }
        return bytes
    }
}
