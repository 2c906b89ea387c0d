import NevodSupport
import Testing

struct ASCIITests {
    private static let digits = "0123456789"
    private static let lowercase = "abcdefghijklmnopqrstuvwxyz"
    private static let uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let visible = String(decoding: (0x21...0x7E).map { UInt8($0) }, as: UTF8.self)

    private func bytes(where isMember: (UInt8) -> Bool) -> [UInt8] { (0...255).map { UInt8($0) }.filter(isMember) }

    private func sorted(_ text: String) -> [UInt8] { text.utf8.sorted() }

    @Test func `Each class of bytes has the members of its standard`() {
        let letters = Self.lowercase + Self.uppercase
        #expect(bytes(where: \.isDigit) == sorted(Self.digits))
        #expect(bytes(where: \.isLowercase) == sorted(Self.lowercase))
        #expect(bytes(where: \.isUppercase) == sorted(Self.uppercase))
        #expect(bytes(where: \.isLetter) == sorted(letters))
        #expect(bytes(where: \.isAlphanumeric) == sorted(letters + Self.digits))
        #expect(bytes(where: \.isHexDigit) == sorted(Self.digits + "abcdefABCDEF"))
        #expect(bytes(where: \.isVisible) == sorted(Self.visible))
        #expect(bytes(where: \.isPrintable) == sorted(Self.visible + " "))
        #expect(bytes(where: \.isControl) == (0...0x1F).map { UInt8($0) } + [0x7F])
        #expect(bytes(where: \.isBlank) == sorted(" \t"))
        #expect(bytes(where: \.isBlankOrLineBreak) == sorted(" \t\n\r"))
        #expect(bytes(where: \.isWhitespace) == sorted(" \t\n\r\u{C}"))
        #expect(bytes(where: \.isCWhitespace) == sorted(" \t\n\r\u{C}\u{B}"))
        #expect(bytes(where: \.isUnreserved) == sorted(letters + Self.digits + "-._~"))
        #expect(bytes(where: \.isSchemeByte) == sorted(letters + Self.digits + "+-."))
    }

    @Test func `A field's value may contain tabs, a cookie neither tabs nor semicolons, and both bytes outside ASCII`() {
        let beyond = (0x80...0xFF).map { UInt8($0) }
        #expect(bytes(where: \.isFieldByte) == sorted(Self.visible + " \t") + beyond)
        #expect(bytes(where: \.isCookieByte) == sorted(Self.visible + " ").filter { $0 != UInt8(ascii: ";") } + beyond)
    }

    @Test func `Only letters have another case`() {
        for byte in bytes(where: { _ in true }) {
            let scalar = Unicode.Scalar(byte)
            #expect(byte.lowercased == (scalar.isASCII ? scalar.properties.lowercaseMapping.utf8.first : byte))
            #expect(byte.uppercased == (scalar.isASCII ? scalar.properties.uppercaseMapping.utf8.first : byte))
        }
    }

    @Test func `A hexadecimal digit has the value that Swift reads`() {
        for byte in bytes(where: { _ in true }) {
            #expect(byte.hexDigitValue.map { Int($0) } == (byte < 0x80 ? Character(Unicode.Scalar(byte)).hexDigitValue : nil))
        }
    }

    @Test func `A number has digits alone and fits its type`() {
        for text in ["0", "7", "007", "65535", "00065535"] { #expect(UInt16(digits: text.utf8) == UInt16(text)) }
        for text in ["", "+1", "-1", " 1", "1 ", "1_0", "0x1", "१", "65536", "99999999999999999999"] {
            #expect(UInt16(digits: text.utf8) == nil, "\(text)")
        }
        #expect(Int64(digits: "9223372036854775807".utf8) == .max)
        #expect(Int64(digits: "9223372036854775808".utf8) == nil)
        #expect(Int8(digits: "128".utf8) == nil)
    }

    @Test func `A number is padded with zeros, and never cut`() {
        #expect([0, 7, 99, 100].map { $0.padded(to: 2) } == ["00", "07", "99", "100"])
        #expect(UInt64.max.padded(to: 17, radix: 16) == "0ffffffffffffffff")
    }

    @Test func `Text is trimmed at its ends alone`() {
        for (text, trimmed) in [("", ""), (" \t ", ""), ("a", "a"), (" \ta b\t ", "a b"), ("\na\n", "\na\n")] {
            #expect(Array(text.utf8.trimmedOfBlanks) == Array(trimmed.utf8))
            #expect(text[...].utf8.withoutSpaceAround == trimmed)
        }
        #expect(Array("\r\n a\u{C}\n".utf8.trimmed { $0.isBlankOrLineBreak }) == Array("a\u{C}".utf8))
    }

    @Test func `A name of the contract begins with a lower-case letter`() {
        for name in ["a", "api-key", "a1-", "x--y"] { #expect(name.utf8.isContractName) }
        for name in ["", "-a", "1a", "A", "aB", "a_b", "a b", "ä", "aä"] { #expect(!name.utf8.isContractName, "\(name)") }
    }
}
