internal import NevodSupport

/// Reads structured fields (RFC 9651 §4.2) from left to right. Each byte is read a bounded number of times.
struct StructuredParser {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ lines: [String]) {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            if index > 0 { bytes.append(ascii: ", ") }
            bytes.append(text: line)
        }
        self.bytes = bytes
    }

    /// Reads a value that is the whole text, apart from spaces around it.
    mutating func whole<Value>(_ read: (inout StructuredParser) -> Value?) -> Value? {
        skipSpaces()
        guard let value = read(&self) else { return nil }
        skipSpaces()
        return next == nil ? value : nil
    }

    mutating func list() -> [StructuredMember]? {
        var members: [StructuredMember] = []
        let isRead = commaSeparated { parser in
            guard let member = parser.member() else { return false }
            members.append(member)
            return true
        }
        return isRead ? members : nil
    }

    mutating func dictionary() -> [StructuredDictionary.Entry]? {
        var entries: [StructuredDictionary.Entry] = []
        var places: [String: Int] = [:]
        let isRead = commaSeparated { parser in
            guard let key = parser.key() else { return false }
            let member: StructuredMember?
            if parser.take("=") {
                member = parser.member()
            } else {
                member = parser.parameters().map { .item(StructuredItem(.bool(true), $0)) }
            }
            guard let member else { return false }
            if let place = places[key] {
                entries[place].member = member
            } else {
                places[key] = entries.count
                entries.append(.init(key: key, member: member))
            }
            return true
        }
        return isRead ? entries : nil
    }

    private mutating func commaSeparated(_ readMember: (inout StructuredParser) -> Bool) -> Bool {
        guard next != nil else { return true }
        while true {
            guard readMember(&self) else { return false }
            skipSpacesAndTabs()
            if next == nil { return true }
            guard take(",") else { return false }
            skipSpacesAndTabs()
            // A comma at the end is invalid.
            if next == nil { return false }
        }
    }

    private mutating func member() -> StructuredMember? {
        guard take("(") else { return item().map { .item($0) } }
        var items: [StructuredItem] = []
        while true {
            skipSpaces()
            if take(")") { return parameters().map { .innerList(items, $0) } }
            guard let item = item() else { return nil }
            items.append(item)
            guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else { return nil }
        }
    }

    mutating func item() -> StructuredItem? {
        guard let value = value(), let parameters = parameters() else { return nil }
        return StructuredItem(value, parameters)
    }

    private mutating func parameters() -> StructuredParameters? {
        var parameters: StructuredParameters = [:]
        var places: [String: Int] = [:]
        while take(";") {
            skipSpaces()
            guard let key = key() else { return nil }
            var value = StructuredValue.bool(true)
            if take("=") {
                guard let given = self.value() else { return nil }
                value = given
            }
            if let place = places[key] {
                parameters.parameters[place].value = value
            } else {
                places[key] = parameters.parameters.count
                parameters.parameters.append(.init(key: key, value: value))
            }
        }
        return parameters
    }

    private mutating func key() -> String? {
        guard let first = next, StructuredText.beginsKey(first) else { return nil }
        return text(while: StructuredText.isInKey)
    }

    private mutating func value() -> StructuredValue? {
        guard let first = next else { return nil }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: ":"): return base64().map { .bytes($0) }
        case UInt8(ascii: "?"): return bool().map { .bool($0) }
        case UInt8(ascii: "@"): return date().map { .date($0) }
        case UInt8(ascii: "%"): return displayString().map { .displayString($0) }
        default:
            guard StructuredText.beginsToken(first) else { return nil }
            return .token(text(while: StructuredText.isInToken))
        }
    }

    private mutating func number() -> StructuredValue? {
        let isNegative = take("-")
        var (value, digits, decimals): (Int64, Int, Int?) = (0, 0, nil)
        while let byte = next {
            if byte.isDigit {
                digits += 1
                decimals = decimals.map { $0 + 1 }
                // At most 15 digits in all, so that no sum overflows.
                guard digits <= 15, decimals ?? 0 <= 3 else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            } else if byte == UInt8(ascii: "."), decimals == nil, digits > 0 {
                guard digits <= 12 else { return nil }
                decimals = 0
            } else {
                break
            }
            offset += 1
        }
        guard digits > 0, decimals != 0 else { return nil }
        if isNegative { value = -value }
        guard let decimals else { return .integer(value) }
        for _ in decimals..<3 { value *= 10 }
        return .decimal(thousandths: value)
    }

    private mutating func string() -> String? {
        offset += 1
        var text: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else { return nil }
                offset += 1
                text.append(escaped)
            case _ where byte.isPrintable: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func base64() -> [UInt8]? {
        offset += 1
        let start = offset
        while let byte = next, byte != UInt8(ascii: ":") {
            // The other alphabet isn't allowed here.
            guard byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") else { return nil }
            offset += 1
        }
        let digits = Array(bytes[start..<offset])
        guard take(":") else { return nil }
        return Base64.decoded(digits, .any)
    }

    private mutating func bool() -> Bool? {
        offset += 1
        return take("1") ? true : take("0") ? false : nil
    }

    private mutating func date() -> Int64? {
        offset += 1
        guard case .integer(let seconds)? = number() else { return nil }
        return seconds
    }

    private mutating func displayString() -> String? {
        offset += 1
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "%"):
                guard offset + 2 <= bytes.count, let byte = StructuredText.lowerCaseByte(bytes[offset], bytes[offset + 1]) else {
                    return nil
                }
                offset += 2
                text.append(byte)
            case _ where byte.isPrintable: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let next, Unicode.Scalar(next) == character else { return false }
        offset += 1
        return true
    }

    private mutating func text(while isPart: (UInt8) -> Bool) -> String {
        let start = offset
        while let next, isPart(next) { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while next == 0x20 { offset += 1 }
    }

    private mutating func skipSpacesAndTabs() {
        while let byte = next, byte.isBlank { offset += 1 }
    }
}

/// The characters of structured fields (RFC 9651 §3).
enum StructuredText {
    static func beginsKey(_ byte: UInt8) -> Bool { byte.isLowercase || byte == UInt8(ascii: "*") }

    static func isInKey(_ byte: UInt8) -> Bool {
        byte.isLowercase || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "*")
    }

    static func beginsToken(_ byte: UInt8) -> Bool {
        byte.isLetter || byte == UInt8(ascii: "*")
    }

    static func isInToken(_ byte: UInt8) -> Bool {
        byte.isTokenByte || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }

    /// The byte of two hexadecimal digits. Letters must be lower-case (RFC 9651 §4.2.10).
    static func lowerCaseByte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard !high.isUppercase, !low.isUppercase else { return nil }
        return Hexadecimal.byte(high, low)
    }
}
