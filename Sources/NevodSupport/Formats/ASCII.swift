// The classes of bytes that text formats are made of. Bytes above 0x7F are in none of them.

extension UInt8 {
    /// Whether the byte is one of `0` to `9`.
    @inlinable
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether the byte is one of `a` to `z`.
    @inlinable
    package var isLowercase: Bool { self &- UInt8(ascii: "a") < 26 }

    /// Whether the byte is one of `A` to `Z`.
    @inlinable
    package var isUppercase: Bool { self &- UInt8(ascii: "A") < 26 }

    /// Whether the byte is a letter of ASCII.
    @inlinable
    package var isLetter: Bool { (self | 0x20).isLowercase }

    /// Whether the byte is a letter or a digit of ASCII.
    @inlinable
    package var isAlphanumeric: Bool { isLetter || isDigit }

    /// Whether the byte is a hexadecimal digit in upper or lower case.
    @inlinable
    package var isHexDigit: Bool { hexDigitValue != nil }

    /// Whether the byte is one of `!` to `~` (VCHAR of RFC 5234).
    @inlinable
    package var isVisible: Bool { self > 0x20 && self < 0x7F }

    /// Whether the byte is visible or a space.
    @inlinable
    package var isPrintable: Bool { self >= 0x20 && self < 0x7F }

    /// Whether the byte is a control character, such as a tab or a line break (CTL of RFC 5234).
    @inlinable
    package var isControl: Bool { self < 0x20 || self == 0x7F }

    /// Whether the byte is a space or a tab: the optional white space of HTTP (OWS of RFC 9110 §5.6.3).
    @inlinable
    package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether the byte is a space, tab, line feed or carriage return: the white space of JSON (RFC 8259 §2).
    @inlinable
    package var isBlankOrLineBreak: Bool { isBlank || self == 0x0A || self == 0x0D }

    /// Whether the byte is a space, tab, line feed, carriage return or form feed: ASCII white space in the HTML standard.
    @inlinable
    package var isWhitespace: Bool { isBlankOrLineBreak || self == 0x0C }

    /// Whether C's `isspace` accepts the byte: ASCII white space or a vertical tab. For the files of programs in C.
    @inlinable
    package var isCWhitespace: Bool { isWhitespace || self == 0x0B }

    /// The byte, with a letter in lower case.
    @inlinable
    package var lowercased: UInt8 { isUppercase ? self | 0x20 : self }

    /// The byte, with a letter in upper case.
    @inlinable
    package var uppercased: UInt8 { isLowercase ? self & ~0x20 : self }

    /// The value of a hexadecimal digit in upper or lower case; nil for any other byte.
    @inlinable
    package var hexDigitValue: UInt8? {
        if isDigit { return self &- UInt8(ascii: "0") }
        let letter = self | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "f") ? letter &- UInt8(ascii: "a") &+ 10 : nil
    }
}

extension FixedWidthInteger {
    /// Reads decimal digits, without the sign that `init?(_ text:)` accepts. Returns nil if there are none, if there is any other
    /// byte, or if the number is too large.
    @inlinable
    package init?(digits: some Sequence<UInt8>) {
        var (value, isEmpty) = (Self.zero, true)
        for byte in digits {
            guard byte.isDigit else { return nil }
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(Self(truncatingIfNeeded: byte &- UInt8(ascii: "0")))
            guard !isTooLarge, !overflows else { return nil }
            (value, isEmpty) = (sum, false)
        }
        guard !isEmpty else { return nil }
        self = value
    }
}

extension BinaryInteger {
    /// The digits of a number that isn't negative, with leading zeros up to a count of digits.
    package func padded(to count: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without the leading and trailing bytes that meet a condition.
    @inlinable
    package func trimmed(of isTrimmed: (UInt8) -> Bool) -> SubSequence {
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }

    /// The bytes without spaces and tabs at both ends.
    @inlinable
    package var trimmedOfBlanks: SubSequence { trimmed { $0.isBlank } }
}

extension Collection<UInt8> {
    /// The text without the byte order mark that some programs write before UTF-8.
    @inlinable
    package var withoutByteOrderMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }

    /// Whether the text has the form of a scheme's id or a setting's name: one of `a` to `z`, and then `a` to `z`, digits and
    /// hyphens. The length isn't checked.
    @inlinable
    package var isContractName: Bool {
        first?.isLowercase == true && allSatisfy { $0.isLowercase || $0.isDigit || $0 == UInt8(ascii: "-") }
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The case whose name has the bytes of a text. (`init(rawValue:)` compares characters, which links Unicode's tables into a
    /// plugin.)
    package init?(text: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else { return nil }
        self = value
    }
}

extension String {
    /// The text with ASCII's letters in lower case.
    package var lowercasedASCII: String { String(decoding: utf8.map { $0.lowercased }, as: UTF8.self) }
}

extension Substring.UTF8View {
    /// The text without spaces and tabs at both ends.
    package var withoutSpaceAround: String { String(Substring(trimmedOfBlanks)) }
}
