internal import NevodPluginTesting
internal import NevodSupport

/// Texts that must stay secret, and a search for them in what a plugin lets out: as they are, and in the usual encodings.
struct Canaries {
    private var forms: [(name: String, form: String, bytes: [UInt8])] = []

    /// Shorter ones occur by chance.
    private static let shortest = 6

    /// - Parameter name: "the setting secret".
    mutating func add(_ name: String, _ value: [UInt8]) {
        guard value.count >= Self.shortest, !forms.contains(where: { $0.bytes == value }) else { return }
        let hex = value.flatMap { byte -> [UInt8] in [Self.digit(byte >> 4), Self.digit(byte & 15)] }
        forms.append((name, "", value))
        forms.append((name, " in hexadecimal", hex))
        forms.append((name, " in hexadecimal", hex.map(Self.upper)))
        let percent = value.flatMap { byte -> [UInt8] in Self.isUnreserved(byte) ? [byte] : [0x25] + Self.escape(byte) }
        if percent != value { forms.append((name, " percent-encoded", percent)) }
        forms.append((name, " percent-encoded", value.flatMap { byte -> [UInt8] in [0x25] + Self.escape(byte) }))
        // A secret inside of a longer text that is encoded begins at any of three places.
        for offset in 0..<3 {
            let text = Self.base64([UInt8](repeating: 0, count: offset) + value)
            let core = text.dropFirst(offset == 0 ? 0 : offset + 1).dropLast((offset + value.count) % 3 == 0 ? 0 : 2)
            forms.append((name, " in base64", Array(core)))
            forms.append((name, " in base64url", core.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }))
        }
    }

    /// Returns what of them a text contains, such as "the setting secret in base64".
    func found(in text: [UInt8]) -> String? {
        for form in forms where Self.contains(text, form.bytes) { return "\(form.name)\(form.form)" }
        return nil
    }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first, text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { start in
            text[start] == first && text[start..<start + part.count].elementsEqual(part)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
    private static func upper(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit - 0x20 : digit }
    private static func escape(_ byte: UInt8) -> [UInt8] { [upper(digit(byte >> 4)), upper(digit(byte & 15))] }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Without padding.
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let text = bytes.withUnsafeBytes { Base64.encoded($0) }
        return text.utf8.filter { $0 != 0x3D }
    }
}
