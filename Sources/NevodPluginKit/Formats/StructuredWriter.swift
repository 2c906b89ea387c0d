internal import NevodSupport

/// Writes structured fields (RFC 9651 §4.1).
struct StructuredWriter {
    private var bytes: [UInt8] = []
    private var isValid = true

    /// The text that `write` makes; nil if a value can't be written.
    static func text(_ write: (inout StructuredWriter) -> Void) -> String? {
        var writer = StructuredWriter()
        write(&writer)
        return writer.isValid ? String(decoding: writer.bytes, as: UTF8.self) : nil
    }

    mutating func write(_ members: [StructuredMember]) {
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(ascii: ", ") }
            write(member)
        }
    }

    mutating func write(_ entries: [StructuredDictionary.Entry]) {
        for (index, entry) in entries.enumerated() {
            if index > 0 { bytes.append(ascii: ", ") }
            write(key: entry.key)
            if let item = entry.member.item, item.value == .bool(true) {
                write(item.parameters)
            } else {
                bytes.append(ascii: "=")
                write(entry.member)
            }
        }
    }

    mutating func write(_ member: StructuredMember) {
        switch member {
        case .item(let item): write(item)
        case .innerList(let items, let parameters):
            bytes.append(ascii: "(")
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(ascii: " ") }
                write(item)
            }
            bytes.append(ascii: ")")
            write(parameters)
        }
    }

    mutating func write(_ item: StructuredItem) {
        write(item.value)
        write(item.parameters)
    }

    private mutating func write(_ parameters: StructuredParameters) {
        for parameter in parameters.parameters {
            bytes.append(ascii: ";")
            write(key: parameter.key)
            guard parameter.value != .bool(true) else { continue }
            bytes.append(ascii: "=")
            write(parameter.value)
        }
    }

    private mutating func write(key: String) {
        guard let first = key.utf8.first, StructuredText.beginsKey(first), key.utf8.allSatisfy(StructuredText.isInKey) else {
            isValid = false
            return
        }
        bytes.append(text: key)
    }

    private mutating func write(_ value: StructuredValue) {
        switch value {
        case .integer(let integer): write(integer)
        case .decimal(let thousandths): write(thousandths: thousandths)
        case .string(let text):
            bytes.append(ascii: "\"")
            for byte in text.utf8 {
                if !byte.isPrintable { isValid = false }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(ascii: "\\") }
                bytes.append(byte)
            }
            bytes.append(ascii: "\"")
        case .token(let text):
            guard let first = text.utf8.first, StructuredText.beginsToken(first), text.utf8.allSatisfy(StructuredText.isInToken)
            else {
                isValid = false
                return
            }
            bytes.append(text: text)
        case .bytes(let content):
            bytes.append(ascii: ":")
            bytes.append(base64: content.span)
            bytes.append(ascii: ":")
        case .bool(let bool): bytes.append(ascii: bool ? "?1" : "?0")
        case .date(let seconds):
            bytes.append(ascii: "@")
            write(seconds)
        case .displayString(let text):
            bytes.append(ascii: "%\"")
            for byte in text.utf8 {
                if !byte.isPrintable || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "%") {
                    bytes.append(ascii: "%")
                    bytes.append(hex: InlineArray<1, UInt8>(repeating: byte).span)
                } else {
                    bytes.append(byte)
                }
            }
            bytes.append(ascii: "\"")
        }
    }

    private static let largest: UInt64 = 999_999_999_999_999

    private mutating func write(_ integer: Int64) {
        if integer.magnitude > Self.largest { isValid = false }
        bytes.append(decimal: integer)
    }

    private mutating func write(thousandths: Int64) {
        if thousandths.magnitude > Self.largest { isValid = false }
        if thousandths < 0 { bytes.append(ascii: "-") }
        let (whole, fraction) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
        // Less than 2^63, because it is a thousandth of a 64-bit number.
        bytes.append(decimal: Int64(whole))
        bytes.append(ascii: ".")
        var (rest, unit) = (fraction, UInt64(100))
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
            rest %= unit
            unit /= 10
        } while rest > 0
    }
}
