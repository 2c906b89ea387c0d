internal import NevodPluginKit
internal import NevodSupport

/// The format of a nonce, with its length in characters.
enum NonceStyle: Sendable, Equatable {
    case hex(Int)
    case digits(Int)
    case alphanumeric(Int)
    case lowercase(Int)
    case bytes(Int)
    case uuid

    static let names = ["hex:N", "digits:N", "alphanumeric:N", "lowercase:N", "uuid", "bytes:N"]

    /// 32 hexadecimal digits.
    static let standard = NonceStyle.hex(32)
}

extension TemplateReader {
    /// Reads the format of a nonce, which follows it like a filter.
    static func nonce(
        _ chain: [[TemplateText.Word]], _ text: TemplateText
    ) throws(RecipeError) -> (Recipe.Source, Filter?, Int) {
        guard chain.count > 1 else { return (.nonce(.standard), nil, 1) }
        let words = chain[1]
        if words.count == 1, words[0].text == "uuid" { return (.nonce(.uuid), nil, 2) }
        guard words.count == 2, let count = words[1].number else { return (.nonce(.standard), nil, 1) }
        let style: NonceStyle
        switch words[0].text {
        case "hex": style = .hex(count)
        case "digits": style = .digits(count)
        case "alphanumeric": style = .alphanumeric(count)
        case "lowercase": style = .lowercase(count)
        case "bytes": style = .bytes(count)
        default: return (.nonce(.standard), nil, 1)
        }
        let most = if case .hex = style { 64 } else { 32 }
        guard (1...most).contains(count) else { throw text.error("a nonce has 1 to \(most) characters", at: words[1].start) }
        return (.nonce(style), nil, 2)
    }
}

extension Signer {
    /// Appends a nonce made of the request's random bytes, so that it is the same throughout the recipe.
    @_lifetime(text: copy text)
    func append(_ style: NonceStyle, _ request: borrowing RequestView, _ text: inout ByteWriter) {
        if let fixedNonce { return text.append(fixedNonce.span) }
        let random = request.random
        switch style {
        case .hex(let count):
            for index in 0..<count {
                let byte = random[index / 2]
                text.append(byte: Hexadecimal.digit(index % 2 == 0 ? byte >> 4 : byte & 15))
            }
        case .bytes(let count): text.append(random.extracting(first: count))
        case .uuid:
            // RFC 9562 §5.4: version 4, variant 10.
            var bytes = InlineArray<16, UInt8> { random[$0] }
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 { text.append(ascii: "-") }
                text.append(byte: Hexadecimal.digit(bytes[index] >> 4))
                text.append(byte: Hexadecimal.digit(bytes[index] & 15))
            }
        case .digits(let count):
            // The first digit isn't zero, because a parser of numbers would drop it.
            for index in 0..<count { Self.append("1234567890", random[index], index == 0 ? 9 : 10, &text) }
        case .alphanumeric(let count):
            for index in 0..<count {
                Self.append("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", random[index], 62, &text)
            }
        case .lowercase(let count):
            for index in 0..<count { Self.append("abcdefghijklmnopqrstuvwxyz", random[index], 26, &text) }
        }
    }

    @_lifetime(text: copy text)
    private static func append(_ alphabet: StaticString, _ random: UInt8, _ count: UInt8, _ text: inout ByteWriter) {
        text.append(byte: alphabet.utf8Start[Int(random % count)])
    }
}
