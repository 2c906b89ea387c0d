internal import NevodPluginKit

/// The value that a server wants in the next proof (RFC 9449 §8, §9).
enum ProofNonce {
    private static let sizeLimit = 1024

    /// The nonce of a response.
    ///
    /// - Parameter lines: the values of the response's lines `DPoP-Nonce`.
    /// - Returns: nil if there is none, more than one, or one that is invalid or longer than 1 KiB.
    static func of(_ lines: [String]) -> String? {
        guard lines.count == 1, isValid(lines[0]) else { return nil }
        return lines[0]
    }

    /// The nonce in an origin's state; empty if there is none.
    static func kept(by state: Span<UInt8>) -> [UInt8] {
        state.withUnsafeBufferPointer { Array($0.prefix { $0 != UInt8(ascii: " ") }) }
    }

    /// Whether a text is a nonce (§8.1): visible ASCII without quotation marks and backslashes. It needs no escapes in JSON.
    static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= sizeLimit
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
