package import NevodSupport

/// Two digits a byte.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A line of text, without another copy of it.
    static func line(_ secret: Secret) -> Secret {
        Secret(count: 2 * secret.count + 1) { text in
            secret.withUnsafeBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    text[2 * index] = digit(byte >> 4)
                    text[2 * index + 1] = digit(byte & 15)
                }
            }
            text[2 * secret.count] = UInt8(ascii: "\n")
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Nil unless it is an even number of digits, and nothing else.
    package static func secret(_ text: UnsafeRawBufferPointer) -> Secret? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var isRight = true
        let secret = Secret(count: text.count / 2) { bytes in
            for index in bytes.indices {
                guard let high = value(text[2 * index]), let low = value(text[2 * index + 1]) else {
                    isRight = false
                    return
                }
                bytes[index] = high << 4 | low
            }
        }
        return isRight ? secret : nil
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
