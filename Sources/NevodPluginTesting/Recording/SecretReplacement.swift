internal import NevodSupport

/// Replaces secrets with placeholders wherever they occur: as they are, percent-encoded, in base64 or in hexadecimal digits, and
/// each of these with JSON's escapes.
struct SecretReplacement {
    private struct Form {
        let new: [UInt8]
        /// A short secret counts only where no letter or digit is next to it.
        let isWord: Bool
    }

    private var placeholder = Placeholder()
    private var known: Set<[UInt8]> = []
    private var forms = TextIndex<Form>()
    private var learned = 0

    /// More secrets would take minutes, and much memory.
    private static let most = 20_000
    private static let shortest = 6

    mutating func add(_ secret: [UInt8]) throws(RecordingRedactor.Problem) {
        guard !secret.isEmpty, !known.contains(secret) else { return }
        guard known.count < Self.most else {
            throw RecordingRedactor.Problem(description: "the recording has more than 20,000 secrets")
        }
        // A short placeholder may equal the secret.
        var new = placeholder.next(for: secret)
        for _ in 0..<100 where new == secret { new = placeholder.next(for: secret) }
        add(secret, new)
    }

    /// Replaces one value with another from now on, because a plugin computed the old value from secrets and the new value from
    /// placeholders.
    mutating func learn(_ old: [UInt8], _ new: [UInt8]) {
        // A long body has many such values, but a server returns few of them.
        guard old != new, old.count >= Self.shortest, !known.contains(old), learned < Self.most else { return }
        learned += 1
        add(old, new)
    }

    private mutating func add(_ old: [UInt8], _ new: [UInt8]) {
        known.insert(old)
        let isWord = old.count < Self.shortest
        for encode in Self.encodings {
            let (form, replaced) = (encode(old), encode(new))
            if form != replaced || form == old { forms.insert(form, Form(new: replaced, isWord: isWord)) }
        }
    }

    private static let encodings: [@Sendable ([UInt8]) -> [UInt8]] = [
        { $0 },
        { PercentEncoding.queryItem($0) },
        { Array(String(decoding: PercentEncoding.queryItem($0), as: UTF8.self).lowercasedEscapes.utf8) },
        { bytes in bytes.flatMap { [UInt8(ascii: "%")] + Array(Hexadecimal.text([$0]).uppercased().utf8) } },
        { Array(Hexadecimal.text($0).utf8) },
        { Array(Hexadecimal.text($0).uppercased().utf8) },
        { bytes in Array(base64(bytes).utf8) },
        { bytes in Array(base64(bytes).utf8.filter { $0 != UInt8(ascii: "=") }) },
        { bytes in base64(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map(urlDigit) },
        { bytes in PercentEncoding.queryItem(base64(bytes).utf8) },
        { PercentEncoding.queryItem($0).replacingSpaces },
    ]

    private static func base64(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { Base64.encoded($0) } }

    private static func urlDigit(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
    }

    func applied(to bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let (form, count) = forms.find(in: bytes, at: index, where: { $0.isWord ? Self.isWord($1, of: bytes) : true }) {
                result += form.new
                index += count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return EscapedText(result).map(appliedWithinEscapes) ?? result
    }

    /// Replaces secrets that show up once JSON's escapes are undone, and leaves other escapes as they are.
    private func appliedWithinEscapes(_ text: EscapedText) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < text.bytes.count {
            let found = forms.find(in: text.bytes, at: index) {
                text.original($1) != nil && ($0.isWord ? Self.isWord($1, of: text.bytes) : true)
            }
            if let (form, count) = found {
                result += EscapedText.escaped(form.new)
                index += count
            } else {
                result += text.piece(index)
                index += 1
            }
        }
        return result
    }

    private static func isWord(_ place: Range<Int>, of bytes: [UInt8]) -> Bool {
        !(place.lowerBound > 0 && bytes[place.lowerBound - 1].isAlphanumeric)
            && !(place.upperBound < bytes.count && bytes[place.upperBound].isAlphanumeric)
    }

    /// Every form in which a secret can be found, even within a longer text in base64. Short forms are left out, because they occur
    /// by chance.
    static func traces(of secrets: [[UInt8]]) -> TextIndex<Void> {
        var index = TextIndex<Void>()
        for secret in Set(secrets) where secret.count >= shortest {
            var searched = encodings.map { $0(secret) }
            for shift in 1...2 {
                // Leaves out the digits that hold bits of adjacent bytes too.
                let digits = base64([UInt8](repeating: 0, count: shift) + secret).utf8.filter { $0 != UInt8(ascii: "=") }
                searched.append(Array(digits.dropFirst(shift + 1).dropLast(1)))
            }
            for form in searched where form.count >= shortest { index.insert(form, ()) }
        }
        return index
    }
}

extension String {
    /// `%2F` as `%2f`.
    fileprivate var lowercasedEscapes: String {
        var result = ""
        var digits = 0
        for character in self {
            result += digits > 0 ? character.lowercased() : String(character)
            digits = character == "%" ? 2 : max(0, digits - 1)
        }
        return result
    }
}

extension [UInt8] {
    /// `%20` as `+`, as in forms.
    fileprivate var replacingSpaces: [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < count {
            if self[index...].starts(with: "%20".utf8) {
                result.append(UInt8(ascii: "+"))
                index += 3
            } else {
                result.append(self[index])
                index += 1
            }
        }
        return result
    }
}
