internal import NevodPluginKit
internal import NevodSupport

/// Writes a recipe's steps with their values to the log, without secrets.
struct Explanation: Sendable {
    private let log: HostLog

    /// The length of one line of the log, leaving room for the host's prefix.
    private static let longest = 900
    /// The limit on lines, because a body may be large.
    private static let mostLines = 64

    init(_ log: HostLog) {
        self.log = log
    }

    func explain(
        _ step: Recipe.Step, _ signer: Signer, _ request: borrowing RequestView, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: Span<UInt8>
    ) {
        let recipe = signer.recipe
        switch step.action {
        case .compute(let slot, _, _):
            guard let name = recipe.slots[slot].name else { return }
            let value = recipe.slots[slot].isSecret ? Self.redacted : Self.shown(text.extracting(values[slot]))
            write(recipe.text(name), value)
        case .join(let slot, let parts), .leave(let slot, let parts):
            guard let name = recipe.slots[slot].name else { return }
            var shown = ""
            for part in parts { shown += Self.shown(recipe.parts[part], signer, request, values, text) }
            write(recipe.text(name), shown)
        case .refuse: break
        case .send(let output, let name, let slot):
            let kind =
                switch output {
                case .header: "header"
                case .query: "query"
                case .cookie: "cookie"
                }
            let value = recipe.slots[slot].isSecret ? Self.redacted : Self.shown(text.extracting(values[slot]))
            write("\(kind) \(recipe.text(name))", value)
        }
    }

    private static let redacted = "[redacted]"

    private static func shown(
        _ part: Recipe.Part, _ signer: Signer, _ request: borrowing RequestView, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: Span<UInt8>
    ) -> String {
        switch part {
        case .literal(let range): shown(Array(signer.recipe.bytes[range]))
        case .slot(let slot):
            signer.recipe.slots[slot].isSecret ? redacted : shown(text.extracting(values[slot]))
        case .request(let part): shown(request.bytes(of: part))
        case .setting(.key): shown(signer.settings.key)
        case .setting: redacted
        }
    }

    /// Escapes invisible characters, so that a superfluous line break shows. Bytes that aren't text become hexadecimal digits.
    private static func shown(_ bytes: Span<UInt8>) -> String { shown(bytes.indices.map { bytes[$0] }) }

    private static func shown(_ array: [UInt8]) -> String {
        guard let text = String(validating: array, as: UTF8.self),
            !array.contains(where: { $0.isControl && !$0.isBlankOrLineBreak })
        else { return "0x" + Hexadecimal.text(array) }
        var shown: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": shown += "\\n".utf8
            case "\r": shown += "\\r".utf8
            case "\t": shown += "\\t".utf8
            case "\\": shown += "\\\\".utf8
            case _ where isInvisible(scalar): shown += "\\u{\(String(scalar.value, radix: 16))}".utf8
            default: shown += scalar.utf8
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Whether a reader would miss a character or be misled by it. Includes spaces that look like others, and spaces without width.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0xAD, 0x2000...0x200D, 0x202F, 0x205F...0x2064, 0x3000, 0xFEFF: true
        default: scalar.isUnsafeAtTerminal
        }
    }

    /// The text with escapes for leading and trailing spaces, which would be invisible.
    private static func showingSpaces(_ text: [UInt8]) -> [UInt8] {
        let start = text.first == 0x20 ? 1 : 0
        let end = text.count > start && text.last == 0x20 ? text.count - 1 : text.count
        let escape = Array("\\s".utf8)
        return (start > 0 ? escape : []) + text[start..<end] + (end < text.count ? escape : [])
    }

    /// Writes a line. A text that is too long continues in further lines.
    private func write(_ name: String, _ value: String) {
        var rest = (Array("\(name) = ".utf8) + Self.showingSpaces(Array(value.utf8)))[...]
        var lines = 0
        repeat {
            guard lines < Self.mostLines else { return log(.info, "… and \(rest.count) more bytes of \(name)") }
            lines += 1
            var count = min(rest.count, Self.longest)
            // Don't split a character.
            while count < rest.count, count > 1, rest[rest.startIndex + count] & 0xC0 == 0x80 { count -= 1 }
            log(.info, String(decoding: rest.prefix(count), as: UTF8.self))
            rest = rest.dropFirst(count)
        } while !rest.isEmpty
    }
}
