internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// One-time codes that change with the time, from a key that the server has too (RFC 6238).
struct TOTP: Sendable {
    private let key: HMACKey
    private let digits: Int
    /// The seconds for which a code is valid.
    let period: Int64

    /// Reads the key as an application shows it: in base32, or in an `otpauth://totp/` URI with the number of digits, the period
    /// and the hash function.
    ///
    /// - Throws: `SchemeError.badSetting`, which doesn't show any part of the key.
    init(_ setting: Secret) throws(SchemeError) {
        self = try setting.withUnsafeBytes { text throws(SchemeError) in
            let text = Self.trimmed(text)
            if Self.starts(text, with: "otpauth") {
                return try TOTP(uri: text)
            }
            return try TOTP(text, .sha1, digits: 6, period: 30)
        }
    }

    private init(_ text: UnsafeRawBufferPointer, _ function: HashFunction, digits: Int, period: Int64) throws(SchemeError) {
        guard let key = Base32.secret(text) else {
            throw .badSetting(
                "totp",
                "must be a key in base32 (letters and the digits 2 to 7) as the application showed it, or an otpauth:// URI")
        }
        guard !key.isEmpty else { throw .badSetting("totp", "must not be empty") }
        self.key = try HMACKey(key, function)
        self.digits = digits
        self.period = period
    }

    private init(uri: UnsafeRawBufferPointer) throws(SchemeError) {
        guard Self.starts(uri, with: "otpauth://totp/") || Self.starts(uri, with: "otpauth://totp?") else {
            throw .badSetting("totp", "must be an otpauth://totp/ URI; other kinds of codes aren't supported")
        }
        var secret: Range<Int>?
        var function = HashFunction.sha1
        var (digits, period) = (6, Int64(30))
        for item in Self.query(of: uri) {
            let name = item.prefix { uri[$0] != UInt8(ascii: "=") }
            let value = item.dropFirst(name.count + 1)
            if uri.isText("secret", name) {
                secret = secret ?? value
            } else if uri.isText("algorithm", name) {
                function = try Self.function(uri, value)
            } else if uri.isText("digits", name) {
                digits = try Int(Self.number(uri, value, "digits", 6...8))
            } else if uri.isText("period", name) {
                period = try Self.number(uri, value, "period", 1...300)
            }
        }
        guard let secret else { throw .badSetting("totp", "must have a secret: otpauth://totp/NAME?secret=KEY") }
        var key = WipedBytes(capacity: max(1, secret.count))
        var position = secret.lowerBound
        while position < secret.upperBound {
            if uri[position] == UInt8(ascii: "%"), position + 2 < secret.upperBound,
                let byte = Hexadecimal.byte(uri[position + 1], uri[position + 2])
            {
                key.append(byte)
                position += 3
            } else {
                key.append(uri[position] == UInt8(ascii: "+") ? UInt8(ascii: " ") : uri[position])
                position += 1
            }
        }
        let text = key.secret
        self = try text.withUnsafeBytes { text throws(SchemeError) in
            try TOTP(text, function, digits: digits, period: period)
        }
    }

    /// The code at a time (RFC 4226 §5.3).
    func code(at unixSeconds: Int64) throws(SchemeError) -> Secret {
        let counter = UInt64(bitPattern: unixSeconds.dividedDown(by: period)).bigEndian
        let code = try withUnsafeBytes(of: counter) { counter throws(SchemeError) in
            try key.code { $0.append(Span(_unsafeElements: counter.assumingMemoryBound(to: UInt8.self))) }
        }
        let bytes = code.bytes
        let offset = Int(bytes[bytes.count - 1] & 15)
        var number = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(truncatingIfNeeded: bytes[offset + $1]) } & 0x7FFF_FFFF
        return Secret(count: digits) { text in
            for index in text.indices.reversed() {
                text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
                number /= 10
            }
        }
    }

    // MARK: - The URI

    private static func function(_ uri: UnsafeRawBufferPointer, _ value: Range<Int>) throws(SchemeError) -> HashFunction {
        for function in [HashFunction.sha1, .sha256, .sha512] where uri.isText(function.rawValue, value) { return function }
        throw .badSetting("totp", "must have SHA1, SHA256 or SHA512 as its algorithm")
    }

    private static func number(
        _ uri: UnsafeRawBufferPointer, _ value: Range<Int>, _ name: String, _ bounds: ClosedRange<Int64>
    ) throws(SchemeError) -> Int64 {
        guard value.count <= 6, let number = Int64(String(decoding: uri[value], as: UTF8.self)), bounds.contains(number) else {
            throw .badSetting("totp", "must have \(bounds.lowerBound) to \(bounds.upperBound) as its \(name)")
        }
        return number
    }

    private static func query(of uri: UnsafeRawBufferPointer) -> [Range<Int>] {
        let whole = (0..<uri.count).prefix { uri[$0] != UInt8(ascii: "#") }
        let start = whole.firstIndex { uri[$0] == UInt8(ascii: "?") } ?? whole.upperBound
        return whole[start...].dropFirst().split { uri[$0] == UInt8(ascii: "&") }
    }

    private static func starts(_ text: UnsafeRawBufferPointer, with beginning: String) -> Bool {
        text.count >= beginning.utf8.count && text.isText(beginning, 0..<beginning.utf8.count)
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text.trimmed { $0 <= 0x20 })
    }
}
