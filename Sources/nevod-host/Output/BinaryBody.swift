/// Recognizes a binary body, which isn't shown at a terminal.
struct BinaryBody {
    /// As in curl, a body is binary if a piece that begins within this many bytes of its start contains a NUL.
    private static let mostChecked = 2000

    private var checked = 0

    /// Whether to refuse to show a binary body at a terminal; `-o -` shows it anyway.
    ///
    /// - Parameter path: the file that the body is written to; nil for standard output.
    static func isRefused(_ arguments: Arguments, _ path: String?) -> Bool { path == nil && arguments.value(.output) == nil }

    /// Refuses a piece that shows that the body is binary.
    mutating func check(_ piece: [UInt8]) throws(BinaryOutputError) {
        guard checked < Self.mostChecked else { return }
        guard !piece.contains(0) else { throw BinaryOutputError() }
        checked += piece.count
    }
}

/// Reports a binary body that was about to be written to a terminal.
struct BinaryOutputError: Error, CustomStringConvertible {
    var description: String {
        "the response is binary, so it isn't shown at a terminal; write -o FILE to save it, or -o - to show it with control "
            + "characters escaped"
    }
}
