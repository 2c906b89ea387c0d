internal import NevodPluginKit
internal import NevodSupport

// The filters of items: `a=1&b=2`.
extension Filter {
    @_lifetime(text: copy text)
    static func append(sorted input: Span<UInt8>, _ order: ItemOrder, _ text: inout ByteWriter) {
        guard order != .written else { return text.append(canonicalQuery: input) }
        struct Item {
            let range: QueryItems.Item
            let name, value: [UInt8]
            let position: Int
        }
        var list: [Item] = []
        var items = QueryItems(input)
        while let item = items.next() {
            let (name, value) = (input.extracting(item.start..<item.nameEnd), input.extracting(item.valueStart..<item.end))
            switch order {
            case .decoded:
                list.append(
                    Item(
                        range: item, name: PercentEncoding.decoded(name, plusIsSpace: true),
                        value: PercentEncoding.decoded(value, plusIsSpace: true), position: list.count))
            default:
                var bytes: [UInt8] = []
                bytes.append(name)
                list.append(Item(range: item, name: bytes, value: [], position: list.count))
            }
        }
        list.sort { left, right in
            if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
            if left.value != right.value { return left.value.lexicographicallyPrecedes(right.value) }
            return left.position < right.position
        }
        for (index, item) in list.enumerated() {
            if index > 0 { text.append(ascii: "&") }
            text.append(input.extracting(item.range.start..<item.range.end))
        }
    }

    @_lifetime(text: copy text)
    static func append(reencoded input: Span<UInt8>, _ set: EscapeSet, _ text: inout ByteWriter) throws(SchemeError) {
        var items = QueryItems(input)
        var isFirst = true
        while let item = items.next() {
            if !isFirst { text.append(ascii: "&") }
            isFirst = false
            try append(
                encoded: PercentEncoding.decoded(input.extracting(item.start..<item.nameEnd), plusIsSpace: true), set, &text)
            guard item.hasEquals else { continue }
            text.append(ascii: "=")
            try append(
                encoded: PercentEncoding.decoded(input.extracting(item.valueStart..<item.end), plusIsSpace: true), set, &text)
        }
    }

    @_lifetime(text: copy text)
    private static func append(encoded bytes: [UInt8], _ set: EscapeSet, _ text: inout ByteWriter) throws(SchemeError) {
        try Filter.percentEncode(set).append(bytes.span, [], most: .max, isStrict: false, to: &text)
    }

    /// Appends items that `change` keeps.
    ///
    /// - Parameter change: a text to add after an item; nil to leave the item out.
    @_lifetime(text: copy text)
    static func append(_ input: Span<UInt8>, _ text: inout ByteWriter, _ change: (QueryItems.Item) -> StaticString?) {
        var items = QueryItems(input)
        var isFirst = true
        while let item = items.next() {
            guard let added = change(item) else { continue }
            if !isFirst { text.append(ascii: "&") }
            isFirst = false
            text.append(input.extracting(item.start..<item.end))
            text.append(ascii: added)
        }
    }

    /// Appends the items whose decoded names are in a list, or all other items.
    @_lifetime(text: copy text)
    static func append(_ input: Span<UInt8>, named names: ArraySlice<UInt8>, isKept: Bool, _ text: inout ByteWriter) {
        let names = names.split(separator: UInt8(ascii: "\n"))
        append(input, &text) { item in
            let isNamed = names.contains { QueryItems.decodes(input.extracting(item.start..<item.nameEnd), to: $0) }
            return isNamed == isKept ? "" : nil
        }
    }

    /// Appends the items with other texts in place of `=` and `&`.
    @_lifetime(text: copy text)
    static func append(
        _ input: Span<UInt8>, _ equals: ArraySlice<UInt8>, _ separator: ArraySlice<UInt8>, _ isDecoded: Bool, _ isStrict: Bool,
        _ most: Int, _ text: inout ByteWriter
    ) throws(SchemeError) {
        let (equals, separator) = (Array(equals), Array(separator))
        let isStrict = isStrict || hasLineBreak(equals) || hasLineBreak(separator)
        var items = QueryItems(input)
        var isFirst = true
        while let item = items.next() {
            if !isFirst { text.append(separator.span) }
            isFirst = false
            try append(input.extracting(item.start..<item.nameEnd), isDecoded, isStrict, &text)
            if item.hasEquals { text.append(equals.span) }
            try append(input.extracting(item.valueStart..<item.end), isDecoded, isStrict, &text)
            try limit(text.count, most)
        }
    }

    /// Appends only the values of items, or only their names.
    @_lifetime(text: copy text)
    static func append(
        partsOf input: Span<UInt8>, _ separator: ArraySlice<UInt8>, areNames: Bool, _ isDecoded: Bool, _ isStrict: Bool,
        _ most: Int, _ text: inout ByteWriter
    ) throws(SchemeError) {
        let separator = Array(separator)
        let isStrict = isStrict || hasLineBreak(separator)
        var items = QueryItems(input)
        var isFirst = true
        while let item = items.next() {
            if !isFirst { text.append(separator.span) }
            isFirst = false
            let range = areNames ? item.start..<item.nameEnd : item.valueStart..<item.end
            try append(input.extracting(range), isDecoded, isStrict, &text)
            try limit(text.count, most)
        }
    }

    @_lifetime(text: copy text)
    private static func append(
        _ part: Span<UInt8>, _ isDecoded: Bool, _ isStrict: Bool, _ text: inout ByteWriter
    ) throws(SchemeError) {
        guard isDecoded else { return text.append(part) }
        let decoded = PercentEncoding.decoded(part, plusIsSpace: true)
        if isStrict { try refuseControls(decoded.span) }
        text.append(decoded.span)
    }

    /// Appends a JSON object's members as items, percent-encoded.
    @_lifetime(text: copy text)
    static func append(jsonItems input: Span<UInt8>, _ text: inout ByteWriter) throws(SchemeError) {
        guard !input.isEmpty else { return }
        for (index, member) in try JSONMembers.read(input, "a value is not the JSON object that the recipe reads").enumerated() {
            if index > 0 { text.append(ascii: "&") }
            text.append(percentEncoded: member.name.span, as: .rfc3986)
            text.append(ascii: "=")
            text.append(percentEncoded: member.value.span, as: .rfc3986)
        }
    }
}

/// The items of a query or a form, split at `&`, as they are written.
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

    /// Whether a text decodes to a name.
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
