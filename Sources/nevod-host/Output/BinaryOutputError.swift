/// A body that is not text was about to be written to a terminal.
struct BinaryOutputError: Error, CustomStringConvertible {
    var description: String {
        "the response is binary, and not written to a terminal; write -o FILE to save it, or -o - to see it with escapes in place "
            + "of control characters"
    }
}
