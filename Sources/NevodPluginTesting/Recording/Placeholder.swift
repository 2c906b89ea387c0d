internal import NevodSupport

/// Makes texts that replace secrets. They have the same length, with a letter for a letter and a digit for a digit, so that a
/// plugin reads them like the secret.
struct Placeholder {
    /// The seed is always the same, so a placeholder depends only on the number of earlier ones, and tells nothing of its secret.
    private var generator = SplitMix64(seed: 0x9E37_79B9_7F4A_7C15)

    mutating func next(for secret: [UInt8]) -> [UInt8] {
        guard let text = String(validating: secret, as: UTF8.self), !text.unicodeScalars.contains(where: \.isUnsafeAtTerminal)
        else {
            return secret.map { _ in UInt8(generator.next(256)) }
        }
        let isHexadecimal = secret.count >= 8 && secret.allSatisfy(\.isHexDigit)
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars { bytes += replacement(for: scalar, isHexadecimal) }
        // A number in JSON doesn't begin with a zero.
        if bytes.first == UInt8(ascii: "0"), secret.first != bytes.first {
            bytes[0] = UInt8(ascii: "1") + UInt8(generator.next(9))
        }
        // The last digit before base64's padding must end in zero bits.
        if secret.last == UInt8(ascii: "="), let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "=") }) {
            bytes[last] = UInt8(ascii: "A")
        }
        return bytes
    }

    private mutating func replacement(for scalar: Unicode.Scalar, _ isHexadecimal: Bool) -> [UInt8] {
        switch scalar {
        case "a"..."z": [UInt8(ascii: "a") + UInt8(generator.next(isHexadecimal ? 6 : 26))]
        case "A"..."Z": [UInt8(ascii: "A") + UInt8(generator.next(isHexadecimal ? 6 : 26))]
        case "0"..."9": [UInt8(ascii: "0") + UInt8(generator.next(10))]
        case _ where scalar.isASCII: Array(String(scalar).utf8)
        // A character of the same length.
        default: Array((String(scalar).utf8.count == 2 ? "ё" : String(scalar).utf8.count == 3 ? "字" : "😀").utf8)
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func next(_ limit: UInt64) -> UInt64 { next() % limit }
}
