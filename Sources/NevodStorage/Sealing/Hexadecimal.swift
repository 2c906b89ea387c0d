package import NevodSupport

/// Hexadecimal text: two digits for each byte.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The digits of a secret, without another copy in memory.
    ///
    /// - Parameter terminator: Bytes to append.
    package static func digits(of secret: Secret, terminator: [UInt8] = []) -> Secret {
        Secret(count: 2 * secret.count + terminator.count) { text in
            secret.withUnsafeBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    text[2 * index] = digit(byte >> 4)
                    text[2 * index + 1] = digit(byte & 15)
                }
            }
            for (index, byte) in terminator.enumerated() { text[2 * secret.count + index] = byte }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// - Returns: nil unless the text is an even number of digits, and nothing else.
    package static func secret(_ text: UnsafeRawBufferPointer) -> Secret? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var isValid = true
        let secret = Secret(count: text.count / 2) { bytes in
            for index in bytes.indices {
                guard let high = value(text[2 * index]), let low = value(text[2 * index + 1]) else {
                    isValid = false
                    return
                }
                bytes[index] = high << 4 | low
            }
        }
        return isValid ? secret : nil
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 55
        default: nil
        }
    }
}
