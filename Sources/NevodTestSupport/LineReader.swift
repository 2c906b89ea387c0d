import Glibc

/// Reads lines from a pipe as they arrive.
package final class LineReader {
    private let pipe: Int32
    private var buffer: [UInt8] = []

    package init(_ pipe: Int32) { self.pipe = pipe }

    /// The next complete line; nil at the end of the pipe.
    package func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(pipe, &piece, piece.count)
            guard count > 0 else { return nil }
            buffer += piece[..<count]
        }
    }

    /// All lines up to the end of the pipe.
    package func rest() -> [String] {
        var lines: [String] = []
        while let line = next() { lines.append(line) }
        return lines
    }
}
