internal import NevodSupport

extension Redactor {
    /// A body as it may be logged: for text, up to `limit` bytes, redacted; for everything else, its size and type. Nil if it
    /// is empty.
    mutating func body(_ bytes: [UInt8], type: String?, limit: Int) -> String? {
        guard !bytes.isEmpty else { return nil }
        let kind = type.map { $0.prefix { $0 != ";" }.lowercased() }
        // Reads beyond the limit, so that a secret at the limit is recognized and redacted as a whole.
        let part = Array(bytes.prefix(2 * limit + longestSecret + 4096))
        guard Self.isText(kind), let text = Self.validText(part, isCut: part.count < bytes.count) else {
            return "[\(bytes.count) bytes\(kind.map { " of \($0)" } ?? "")]"
        }
        var shown = hidingSecrets(text)
        if kind?.hasSuffix("json") == true || Self.looksLikeJSON(shown) { shown = json(shown) }
        learn(assignments(in: shown), of: shown)
        shown = self.bytes(shown)
        if part.count < bytes.count { shown.removeLast(min(shown.count, longestSecret + 4)) }
        guard shown.count > limit || part.count < bytes.count else { return String(decoding: shown, as: UTF8.self) }
        let cut = Self.validText(Array(shown.prefix(limit)), isCut: true) ?? []
        return String(decoding: cut, as: UTF8.self) + "[… of \(bytes.count) bytes]"
    }

    /// Multipart doesn't count as text: a part's name is too far from its value to tell which values are secret.
    private static func isText(_ kind: String?) -> Bool {
        guard let kind, !kind.isEmpty else { return true }
        return kind.hasPrefix("text/") || kind == "application/x-www-form-urlencoded"
            || ["json", "xml", "javascript"].contains { kind.hasSuffix($0) } || kind.hasSuffix("ndjson")
    }

    /// The text without an incomplete character at its end; nil if it isn't UTF-8, or contains control characters.
    private static func validText(_ bytes: [UInt8], isCut: Bool) -> [UInt8]? {
        guard !bytes.contains(where: { $0 < 0x20 && !$0.isBlankOrLineBreak }) else { return nil }
        for dropped in 0...(isCut ? min(3, bytes.count) : 0)
        where String(validating: bytes.dropLast(dropped), as: UTF8.self) != nil {
            return bytes.dropLast(dropped)
        }
        return nil
    }

    private static func looksLikeJSON(_ text: [UInt8]) -> Bool {
        let first = text.first { !$0.isBlankOrLineBreak }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// JSON with the values of secret names redacted, including whole objects and arrays. Malformed or truncated JSON is
    /// processed as far as possible. Redacted strings are learnt as secrets.
    private mutating func json(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var scanner = JSONScanner(text: text)
        while let byte = scanner.peek {
            guard byte == UInt8(ascii: "\"") else {
                output.append(byte)
                scanner.index += 1
                continue
            }
            let key = scanner.string()
            output += text[key]
            let colonStart = scanner.index
            guard scanner.skipColon() else {
                scanner.index = colonStart
                continue
            }
            output += text[colonStart..<scanner.index]
            guard names.contains(JSONScanner.unescaped(text[key])) else { continue }
            let value = scanner.value()
            if ["null", "true", "false"].contains(String(decoding: text[value], as: UTF8.self)) {
                output += text[value]
            } else if !value.isEmpty {
                if text[value.lowerBound] == UInt8(ascii: "\"") { add(JSONScanner.unescaped(text[value])) }
                output += [UInt8(ascii: "\"")] + Self.mark + [UInt8(ascii: "\"")]
            }
        }
        link()
        return output
    }
}

/// Finds where the strings and values of a JSON text end.
private struct JSONScanner {
    let text: [UInt8]
    var index = 0

    init(text: [UInt8]) {
        self.text = text
    }

    var peek: UInt8? { index < text.count ? text[index] : nil }

    /// Skips a string. Returns its range, including the quotes. A string without an end extends to the end of the text.
    mutating func string() -> Range<Int> {
        let start = index
        index += 1
        while let byte = peek, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
        index = min(index + 1, text.count)
        return start..<index
    }

    /// Whether a colon comes next. If so, skips it and the space around it, up to the value.
    mutating func skipColon() -> Bool {
        skipSpace()
        guard peek == UInt8(ascii: ":") else { return false }
        index += 1
        skipSpace()
        return true
    }

    /// Skips a value. Returns its range. A value without an end extends to the end of the text.
    mutating func value() -> Range<Int> {
        let start = index
        switch peek {
        case UInt8(ascii: "\"")?: return string()
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
            var depth = 0
            repeat {
                switch peek {
                case nil: return start..<text.count
                case UInt8(ascii: "\"")?:
                    _ = string()
                    continue
                case UInt8(ascii: "{")?, UInt8(ascii: "[")?: depth += 1
                case UInt8(ascii: "}")?, UInt8(ascii: "]")?: depth -= 1
                default: break
                }
                index += 1
            } while depth > 0
        default:
            while let byte = peek, byte > 0x20, ![UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) {
                index += 1
            }
        }
        return start..<index
    }

    private mutating func skipSpace() {
        while let byte = peek, byte.isBlankOrLineBreak { index += 1 }
    }

    /// A string's text, without its quotes.
    static func unescaped(_ literal: ArraySlice<UInt8>) -> [UInt8] {
        var rest = literal.dropFirst()
        if rest.last == UInt8(ascii: "\"") { rest.removeLast() }
        guard rest.contains(UInt8(ascii: "\\")) else { return Array(rest) }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let letter = rest.first else {
                bytes.append(byte)
                continue
            }
            var index = 0
            if JSONEscape.decode(rest.span, at: &index, into: &bytes) {
                rest = rest.dropFirst(index)
            } else if letter == UInt8(ascii: "u") {
                bytes += "\u{FFFD}".utf8
                rest = rest.dropFirst(5)
            } else {
                bytes.append(letter)
                rest = rest.dropFirst()
            }
        }
        return bytes
    }
}
