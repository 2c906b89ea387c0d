internal import NevodSupport

/// Words of a server in an error.
enum ServerText {
    /// The length of the longest text that is shown, in bytes.
    static let limit = 240
    private static let mostRead = 2000

    /// Returns the text as printable ASCII, cut if it is long. Secrets, percent-encoded or not, and words that look like a token,
    /// are replaced by `...`, because a server may repeat what it was sent.
    static func shown(_ text: String, without secrets: [Secret] = []) -> String {
        let bytes = Array(text.utf8.prefix(mostRead + 1))
        let isCut = bytes.count > mostRead
        var isSecret = [Bool](repeating: false, count: bytes.count)
        // Short ones are texts as well.
        for secret in secrets where secret.count >= 4 { mark(secret, in: bytes, isCut, &isSecret) }
        var shown: [UInt8] = []
        var word: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if isSecret[index] {
                if index == 0 || !isSecret[index - 1] { word += ellipsis }
                continue
            }
            if isOfToken(byte) {
                word.append(byte)
                continue
            }
            append(&word, to: &shown)
            if byte > 0x20, byte < 0x7F {
                shown.append(byte)
            } else if shown.last != UInt8(ascii: " ") {
                shown.append(UInt8(ascii: " "))
            }
        }
        // The last word may be the beginning of a secret.
        if !isCut { append(&word, to: &shown) }
        while shown.last == UInt8(ascii: " ") { shown.removeLast() }
        if shown.count > limit { shown = shown.prefix(limit) + ellipsis }
        return String(decoding: shown.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// The text between quotation marks, for a name or an address, which says nothing without its long words: printable ASCII, of which
    /// any other byte shows as a question mark, and cut if it is long.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8.prefix(limit) {
            bytes.append((0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") ? byte : UInt8(ascii: "?"))
        }
        if text.utf8.count > limit { bytes += ellipsis }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let ellipsis = Array("...".utf8)

    private static func append(_ word: inout [UInt8], to text: inout [UInt8]) {
        let hasDigit = word.contains { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let isLikeToken = word.count >= (hasDigit ? 16 : 40)
        text += isLikeToken ? ellipsis : word
        word = []
    }

    /// Whether the byte may stand in a bearer token (RFC 6750 §2.1).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// Marks the bytes of a secret, wherever it begins.
    private static func mark(_ secret: Secret, in bytes: [UInt8], _ isCut: Bool, _ isSecret: inout [Bool]) {
        secret.withUnsafeBytes { secret in
            for start in bytes.indices {
                for isEncoded in [false, true] {
                    guard let end = end(of: secret, in: bytes, from: start, isEncoded, isCut) else { continue }
                    for index in start..<end { isSecret[index] = true }
                }
            }
        }
    }

    /// The end of a secret that begins at an index, or of its part before the cut; nil if none begins there.
    ///
    /// - Parameter isEncoded: whether bytes may be percent-encoded (RFC 3986 §2.1). A plus may stand for a space in any case.
    private static func end(
        of secret: UnsafeRawBufferPointer, in bytes: [UInt8], from start: Int, _ isEncoded: Bool, _ isCut: Bool
    ) -> Int? {
        var index = start
        for byte in secret {
            // A code of three bytes may be cut.
            if isCut, bytes.count - index < 3 { return bytes.count }
            guard index < bytes.count else { return nil }
            if isEncoded, bytes[index] == UInt8(ascii: "%"), bytes.count - index >= 3,
                let decoded = Hexadecimal.byte(bytes[index + 1], bytes[index + 2])
            {
                guard decoded == byte else { return nil }
                index += 3
            } else {
                guard bytes[index] == byte || bytes[index] == UInt8(ascii: "+") && byte == 0x20 else { return nil }
                index += 1
            }
        }
        return index
    }
}
