import Glibc
import NevodHost
import NevodSupport

/// Makes text from outside safe for a terminal, piece by piece as it arrives. Escapes such as `\u{1b}` and `\x9b` replace
/// characters that control a terminal or change the writing direction, and bytes that aren't UTF-8. Line breaks and tabs stay.
///
/// (`TerminalText`, in contrast, makes text safe for a single line.)
struct TerminalFilter {
    /// The beginning of a character or of a line break, at the end of the last piece.
    private var pending: [UInt8] = []

    /// Returns the safe form of the next piece.
    mutating func safe(_ piece: [UInt8]) -> [UInt8] {
        let text = pending.isEmpty ? piece : pending + piece
        pending = []
        return text.withUnsafeBufferPointer { text in
            var output: [UInt8] = []
            output.reserveCapacity(text.count)
            var start = 0
            var index = 0
            while index < text.count {
                guard !Self.isPlain(text[index]) else {
                    index += 1
                    continue
                }
                let part = Self.part(at: index, of: text)
                if case .safe(let count) = part {
                    index += count
                    continue
                }
                output.append(contentsOf: text[start..<index])
                switch part {
                case .safe: break
                case .unfinished:
                    pending = Array(text[index...])
                    return output
                case .unsafe(let scalar, let count):
                    output += "\\u{\(String(scalar.value, radix: 16))}".utf8
                    index += count
                case .invalid:
                    output += "\\x\(Hexadecimal.text([text[index]]))".utf8
                    index += 1
                }
                start = index
            }
            output.append(contentsOf: text[start...])
            return output
        }
    }

    /// Returns the rest, after the last piece.
    mutating func finish() -> [UInt8] {
        defer { pending = [] }
        // Nothing follows, so a carriage return isn't part of a line break, and a begun character is incomplete.
        return pending.flatMap { $0 == 0x0D ? Array("\\u{d}".utf8) : Array("\\x\(Hexadecimal.text([$0]))".utf8) }
    }

    /// Returns a whole text in its safe form.
    static func safe(_ text: String) -> [UInt8] {
        var filter = TerminalFilter()
        return filter.safe(Array(text.utf8)) + filter.finish()
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isPrintable || byte == 0x0A || byte == 0x09
    }

    private enum Part {
        case safe(count: Int)
        case unsafe(Unicode.Scalar, count: Int)
        case invalid
        /// More bytes are needed to decide.
        case unfinished
    }

    /// Reads the character at an index. The byte there is not plain.
    private static func part(at index: Int, of text: UnsafeBufferPointer<UInt8>) -> Part {
        let first = text[index]
        if first == 0x0D {
            guard index + 1 < text.count else { return .unfinished }
            return text[index + 1] == 0x0A ? .safe(count: 2) : .unsafe("\r", count: 1)
        }
        guard first >= 0x80 else { return .unsafe(Unicode.Scalar(first), count: 1) }
        let count =
            first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : first >= 0xF0 && first <= 0xF4 ? 4 : 0
        guard count > 0 else { return .invalid }
        var value = UInt32(first) & (0xFF >> UInt32(count + 1))
        for offset in 1..<count {
            guard index + offset < text.count else { return .unfinished }
            let next = text[index + offset]
            guard next & 0xC0 == 0x80 else { return .invalid }
            value = value << 6 | UInt32(next & 0x3F)
        }
        // Refuses overlong forms; the initializer refuses surrogates.
        let least: UInt32 = count == 2 ? 0x80 : count == 3 ? 0x800 : 0x10000
        guard value >= least, let scalar = Unicode.Scalar(value) else { return .invalid }
        return scalar.isUnsafeAtTerminal ? .unsafe(scalar, count: count) : .safe(count: count)
    }
}

extension FileDescriptor {
    /// Writes text, which may come from a server or a plugin. For a terminal, it is made safe.
    func write(_ text: String) throws(OutputError) {
        let bytes = isatty(number) == 1 ? TerminalFilter.safe(text) : Array(text.utf8)
        try write(bytes.span)
    }
}

/// Writes a command's result to standard output, made safe for a terminal.
func output(_ text: String, terminator: String = "\n") throws(OutputError) {
    try FileDescriptor.standardOutput.write(text + terminator)
}

enum TerminalSize {
    /// Returns 80 if the width is unknown: without a terminal, or with one that doesn't report it.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Returns 24 if the height is unknown.
    static func rows(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }
}
