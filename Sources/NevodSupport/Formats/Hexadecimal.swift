/// Bytes as two hexadecimal digits each (RFC 4648 §8), and back.
public enum Hexadecimal {
    /// The lower-case digit of 0 … 15. It has no branch: for the bytes of a signature, a processor would mispredict a branch half
    /// the time.
    @inlinable
    package static func digit(_ value: UInt8) -> UInt8 {
        value &+ UInt8(ascii: "0") &+ (((value &+ 6) >> 4) &* 39)
    }

    /// The upper-case digit of 0 … 15.
    @inlinable
    package static func upperCaseDigit(_ value: UInt8) -> UInt8 {
        value &+ UInt8(ascii: "0") &+ (((value &+ 6) >> 4) &* 7)
    }

    /// The byte of two digits; nil unless both are digits.
    @inlinable
    package static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard let high = high.hexDigitValue, let low = low.hexDigitValue else { return nil }
        return high << 4 | low
    }

    /// The digits in lower case. For bytes that aren't secret.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// A secret's digits. They are written only into the memory of another secret.
    public static func digits(of secret: Secret) -> Secret {
        Secret(count: 2 * secret.count) { write(secret, to: $0) }
    }

    /// A secret's digits and a line feed. They are written only into the memory of another secret.
    package static func line(_ secret: Secret) -> Secret {
        Secret(count: 2 * secret.count + 1) { text in
            write(secret, to: text)
            text[2 * secret.count] = UInt8(ascii: "\n")
        }
    }

    private static func write(_ secret: Secret, to text: UnsafeMutableRawBufferPointer) {
        secret.withUnsafeBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
        }
    }

    /// The bytes of an even number of digits in upper or lower case; nil for any other text.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = byte(digits[index], digits[index + 1]) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// The bytes of a secret's digits, only in the memory of another secret; nil for any other text.
    public static func secret(_ text: Secret) -> Secret? {
        text.withUnsafeBytes { secret($0) }
    }

    /// The bytes of an even number of digits in upper or lower case; nil for any other text.
    package static func secret(_ text: UnsafeRawBufferPointer) -> Secret? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var isValid = true
        let secret = Secret(count: text.count / 2) { bytes in
            for index in bytes.indices {
                guard let byte = byte(text[2 * index], text[2 * index + 1]) else {
                    isValid = false
                    return
                }
                bytes[index] = byte
            }
        }
        return isValid ? secret : nil
    }
}
