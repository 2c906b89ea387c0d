internal import NevodSupport

#if hasFeature(Embedded)
    internal import CEmbeddedRuntime
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The places of an object's members in its JSON text, so that a value is decoded only when it is read.
///
/// Everything is checked once, at the start: grammar, UTF-8, surrogates, the range of numbers, depth, and duplicate names in an
/// object, which readers interpret differently (RFC 8259 §4).
struct JSONIndex: Sendable {
    struct Member: Sendable {
        /// Without the quotation marks.
        let name: Range<Int>
        let value: Range<Int>
        let kind: JSONKind
    }

    private(set) var members: [Member]
    /// Whether the text contains a backslash. Without one, as in most texts, a string's contents are its bytes.
    private let hasEscapes: Bool

    /// - Parameter depth: how deeply arrays and objects may be nested.
    init(_ text: Span<UInt8>, depth: Int = 32) throws(JSONError) {
        let (isASCII, hasEscapes) = text.withUnsafeBufferPointer { text in
            (text.reduce(0) { $0 | $1 } < 0x80, text.firstOffset(of: UInt8(ascii: "\\")) != nil)
        }
        if !isASCII {
            let isUTF8 = text.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) != nil }
            guard isUTF8 else { throw JSONError(offset: 0, problem: "text that is not UTF-8") }
        }
        self.hasEscapes = hasEscapes
        var scanner = JSONScanner(text, hasEscapes: hasEscapes)
        members = try scanner.document(depth: depth)
    }

    /// - Parameter text: the bytes that the index was made from.
    func member(_ name: String, in text: Span<UInt8>) -> Member? {
        var name = name
        return name.withUTF8 { name in members.first { equals($0.name, name, in: text) } }
    }

    /// Whether a string equals another one, byte by byte.
    func equals(_ range: Range<Int>, _ other: UnsafeBufferPointer<UInt8>, in text: Span<UInt8>) -> Bool {
        guard hasEscapes else { return text.extracting(range).equals(other) }
        return JSONText.bytes(text.extracting(range)).elementsEqual(other)
    }

    func string(_ range: Range<Int>, in text: Span<UInt8>) -> String {
        let content = text.extracting(range)
        guard hasEscapes else { return content.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
        return String(decoding: JSONText.bytes(content), as: UTF8.self)
    }

    /// A member's string; nil if there is no such member.
    /// - Throws: for a member of another kind.
    func string(_ name: String, in text: Span<UInt8>) throws(NotAString) -> String? {
        guard let member = member(name, in: text) else { return nil }
        guard member.kind == .string else { throw NotAString() }
        return string(member.contents, in: text)
    }

    struct NotAString: Error {}
}

extension JSONIndex.Member {
    /// A string without its quotation marks.
    var contents: Range<Int> { value.lowerBound + 1..<value.upperBound - 1 }
}

/// The kinds of JSON values.
enum JSONKind: UInt8, Sendable {
    case string, number, `true`, `false`, null, array, object
}

/// Decodes strings between their quotation marks.
enum JSONText {
    /// The bytes of a checked string's contents, with escapes decoded.
    static func bytes(_ contents: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(contents.count)
        return decode(contents, into: &bytes) ? bytes : []
    }

    /// - Returns: false for an unpaired surrogate.
    static func decode(_ contents: Span<UInt8>, into bytes: inout [UInt8]) -> Bool {
        var index = 0
        while index < contents.count {
            let byte = contents[index]
            index += 1
            if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
            } else if !JSONEscape.decode(contents, at: &index, into: &bytes) {
                return false
            }
        }
        return true
    }
}

extension Span<UInt8> {
    func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBufferPointer { own in
            for index in own.indices where own[index] != other[index] { return false }
            return true
        }
    }

    func equals(_ other: Span<UInt8>) -> Bool { other.withUnsafeBufferPointer { equals($0) } }
}

extension UnsafeBufferPointer<UInt8> {
    /// The offset of the first such byte. Uses the C library's search, which takes several bytes at once.
    func firstOffset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, CInt(byte), count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }
}
