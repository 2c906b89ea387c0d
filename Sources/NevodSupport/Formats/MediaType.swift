/// A media type without its parameters (RFC 9110 §8.3.1), in lower case, so that equal types compare equal.
package struct MediaType: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Reads the value of a Content-Type line; nil if it is malformed.
    package init?(contentType: some Collection<UInt8>) {
        // Optional white space may stand around the semicolon (§5.6.6).
        let type = contentType.prefix { $0 != UInt8(ascii: ";") }.drop(while: Self.isBlank)
        var bytes = type.map { $0.asciiLowercased }
        while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
        let parts = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isTokenByte } }) else { return nil }
        self.bytes = bytes
    }

    /// Reads the name of a type: no parameters, no range such as `text/*`, at most 255 bytes.
    package init?(name: some Collection<UInt8>) {
        guard name.count <= 255, !name.contains(where: { Self.isBlank($0) || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "*") })
        else { return nil }
        self.init(contentType: name)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
