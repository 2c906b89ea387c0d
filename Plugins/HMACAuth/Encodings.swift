internal import NevodPluginKit

/// How a signature or a hash is written.
enum ByteEncoding: String, CaseIterable, SettingValue {
    case hex
    case upperCaseHex = "HEX"
    /// RFC 4648 §4, padded.
    case base64
    /// RFC 4648 §5, unpadded, as JOSE has made it the custom (RFC 7515 §2).
    case base64url

    /// Of the text, at most.
    func count(of bytes: Int) -> Int {
        switch self {
        case .hex, .upperCaseHex: bytes * 2
        case .base64, .base64url: (bytes + 2) / 3 * 4
        }
    }
}

extension ByteWriter {
    @_lifetime(self: copy self)
    mutating func append(_ bytes: Span<UInt8>, _ encoding: ByteEncoding) {
        switch encoding {
        case .hex: append(hex: bytes)
        case .upperCaseHex: append(upperCaseHex: bytes)
        case .base64: append(base64: bytes)
        case .base64url: append(base64URL: bytes)
        }
    }
}

/// How a vendor writes the secret it hands out.
enum SecretEncoding: String, CaseIterable, SettingValue {
    case text, hex
    /// Either alphabet of RFC 4648, padded or not: vendors differ, and the texts can't be mistaken for each other.
    case base64

    func decode(_ secret: Secret) throws(SchemeError) -> Secret {
        let decoded =
            switch self {
            case .text: secret
            case .hex: decode(secret, capacity: secret.count / 2, Self.hex)
            case .base64: decode(secret, capacity: secret.count / 4 * 3 + 3, Self.base64)
            }
        guard let decoded else { throw .badSetting("secret", "is no \(rawValue), which secret-encoding says it is") }
        guard !decoded.isEmpty else { throw .badSetting("secret", "must not be empty") }
        return decoded
    }

    /// Decodes in memory that is wiped afterwards.
    private func decode(
        _ secret: Secret, capacity: Int, _ decode: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int?
    ) -> Secret? {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { output in
            defer { output.wipe() }
            guard let count = secret.withUnsafeBytes({ decode($0, output) }) else { return nil }
            return Secret(copying: UnsafeRawBufferPointer(rebasing: output[..<count]))
        }
    }

    private static func hex(_ text: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
        guard text.count.isMultiple(of: 2) else { return nil }
        for index in 0..<text.count / 2 {
            guard let high = text[index * 2].hexDigitValue, let low = text[index * 2 + 1].hexDigitValue else { return nil }
            output[index] = high << 4 | low
        }
        return text.count / 2
    }

    private static func base64(_ text: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.count - digits.count
        guard digits.count % 4 != 1, text[digits.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }),
            padding == 0 || padding < 3 && text.count.isMultiple(of: 4)
        else { return nil }
        var bits: UInt32 = 0
        var count = 0
        for (index, digit) in digits.enumerated() {
            guard let value = digit.base64DigitValue else { return nil }
            bits = bits << 6 | UInt32(value)
            // The first digit of four completes no byte, each of the others one.
            guard index % 4 != 0 else { continue }
            output[count] = UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))
            count += 1
        }
        return count
    }
}

extension UInt8 {
    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    fileprivate var base64DigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Of a token (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
