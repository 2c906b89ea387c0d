/// Base64 (RFC 4648 §4) and base64url (§5).
public enum Base64 {
    /// The digits for 62 and 63: `+` and `/` (RFC 4648 §4), or `-` and `_` (§5).
    public enum Alphabet: CaseIterable, Sendable {
        /// With `+` and `/`.
        case standard
        /// With `-` and `_`.
        case url
    }

    /// The form that a text must have to be decoded.
    public enum Form: CaseIterable, Sendable {
        /// Base64url without padding and without unused bits that are set (RFC 4648 §3.5): one text for each value.
        case strictURL
        /// The standard alphabet with padding, and without unused bits that are set: one text for each value.
        case strict
        /// Either alphabet, padded or not.
        case any
        /// One of the alphabets, padded or not, and without unused bits that are set. For text that a person copies.
        case exact
    }

    /// The number of digits that encode so many bytes, without padding.
    package static func digitCount(_ bytes: Int) -> Int { (bytes * 8 + 5) / 6 }

    /// Writes the digits, without padding.
    ///
    /// - Parameter place: has room for ``digitCount(_:)`` bytes.
    package static func encode(_ bytes: Span<UInt8>, _ alphabet: Alphabet, to place: UnsafeMutablePointer<UInt8>) {
        let digits: StaticString =
            switch alphabet {
            case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            case .url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            }
        for digit in 0..<digitCount(bytes.count) {
            // A digit's six bits begin in one byte and may end in the next.
            let (first, shift) = (digit * 6 / 8, digit * 6 % 8)
            let pair = UInt16(bytes[first]) << 8 | (first + 1 < bytes.count ? UInt16(bytes[first + 1]) : 0)
            place[digit] = digits.utf8Start[Int(pair >> UInt16(10 - shift)) & 63]
        }
    }

    /// The standard alphabet, padded, without line breaks.
    package static func encoded(_ bytes: UnsafeRawBufferPointer) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count) { text in
            guard let start = text.baseAddress else { return 0 }
            text.initialize(repeating: UInt8(ascii: "="))
            encode(Span(_unsafeBytes: bytes), .standard, to: start)
            return count
        }
    }

    /// Decodes into the caller's memory, so that the caller can wipe it.
    ///
    /// - Parameter output: has room for three bytes for each group of four digits, even an incomplete one.
    /// - Returns: the number of bytes; nil if the text doesn't have the form.
    package static func decode(
        _ text: UnsafeRawBufferPointer, _ form: Form, to output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var digits = text.count
        if form != .strictURL {
            while digits > 0, text[digits - 1] == UInt8(ascii: "=") { digits -= 1 }
        }
        let padding = text.count - digits
        guard digits % 4 != 1, padding == 0 || padding < 3 && text.count.isMultiple(of: 4) else { return nil }
        guard form != .strict || text.count.isMultiple(of: 4) else { return nil }
        guard form != .exact || !mixesAlphabets(text) else { return nil }
        var (bits, count) = (UInt32(0), 0)
        var start = 0
        if form == .strictURL {
            (start, count) = (digits / 4 * 4, digits / 4 * 3)
            guard decodeGroups(text, start, to: output) else { return nil }
        }
        for index in start..<digits {
            guard let value = value(of: text[index], form) else { return nil }
            bits = bits << 6 | UInt32(value)
            // The first digit of four completes no byte. Each of the others completes one.
            guard index % 4 != 0 else { continue }
            output[count] = UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))
            count += 1
        }
        let unused = digits * 6 - count * 8
        return form != .any && bits & (1 << UInt32(unused) - 1) != 0 ? nil : count
    }

    /// The bytes of a text that isn't secret; nil if it doesn't have the form.
    public static func decoded(_ text: [UInt8], _ form: Form) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: (text.count + 3) / 4 * 3)
        let count = text.withUnsafeBytes { text in bytes.withUnsafeMutableBytes { decode(text, form, to: $0) } }
        guard let count else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// The bytes of a text that isn't secret; nil if it doesn't have the form.
    public static func decoded(_ text: some StringProtocol, _ form: Form) -> [UInt8]? {
        decoded(Array(text.utf8), form)
    }

    /// The digits of bytes that aren't secret.
    ///
    /// - Parameters:
    ///   - bytes: of any number.
    ///   - alphabet: the digits for 62 and 63.
    ///   - padded: whether `=` fills up the last group of four.
    public static func encoded(_ bytes: [UInt8], _ alphabet: Alphabet = .standard, padded: Bool = true) -> String {
        let digits = digitCount(bytes.count)
        let count = padded ? (bytes.count + 2) / 3 * 4 : digits
        return String(unsafeUninitializedCapacity: count) { text in
            guard let start = text.baseAddress else { return 0 }
            text.initialize(repeating: UInt8(ascii: "="))
            encode(bytes.span, alphabet, to: start)
            return count
        }
    }

    /// The bytes of a secret's digits, in memory that gets wiped; nil if the text doesn't have the form.
    public static func decoded(_ text: Secret, _ form: Form) -> Secret? {
        text.withUnsafeBytes { secret($0, form) }
    }

    /// The bytes of a secret's digits, in memory that gets wiped; nil if the text doesn't have the form.
    package static func secret(_ text: UnsafeRawBufferPointer, _ form: Form) -> Secret? {
        withUnsafeTemporaryAllocation(byteCount: (text.count + 3) / 4 * 3, alignment: 1) { output in
            defer { output.wipe() }
            guard let count = decode(text, form, to: output) else { return nil }
            return Secret(copying: UnsafeRawBufferPointer(rebasing: output[..<count]))
        }
    }

    /// Decodes base64url in groups of four digits with a table, because a token has hundreds of them.
    ///
    /// - Parameter count: a multiple of four.
    private static func decodeGroups(
        _ text: UnsafeRawBufferPointer, _ count: Int, to output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        urlValues.withUnsafeBufferPointer { values in
            var (from, to) = (0, 0)
            while from < count {
                let (first, second) = (values[Int(text[from])], values[Int(text[from + 1])])
                let (third, fourth) = (values[Int(text[from + 2])], values[Int(text[from + 3])])
                guard first | second | third | fourth < 64 else { return false }
                output[to] = first << 2 | second >> 4
                output[to + 1] = second << 4 | third >> 2
                output[to + 2] = third << 6 | fourth
                from += 4
                to += 3
            }
            return true
        }
    }

    /// The value of each byte as a digit; 255 if the byte isn't a digit.
    private static let urlValues: [UInt8] = (0...UInt8.max).map { value(of: $0, .strictURL) ?? 255 }

    private static func mixesAlphabets(_ text: UnsafeRawBufferPointer) -> Bool {
        text.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
            && text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// The value of a digit of the form's alphabets; nil for any other byte.
    @inlinable
    package static func value(of digit: UInt8, _ form: Form) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-") where form != .strict: 62
        case UInt8(ascii: "_") where form != .strict: 63
        case UInt8(ascii: "+") where form != .strictURL: 62
        case UInt8(ascii: "/") where form != .strictURL: 63
        default: nil
        }
    }
}
