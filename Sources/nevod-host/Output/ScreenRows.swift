/// Counts the rows that a text takes at a terminal; a wide character counts as one column.
struct ScreenRows {
    private(set) var rows = 0
    private var column = 0
    /// Whether a sequence for a colour is being read, which takes no room.
    private var isInSequence = false

    mutating func add(_ text: [UInt8], columns: Int) {
        for byte in text {
            if isInSequence {
                isInSequence = byte != UInt8(ascii: "m")
            } else if byte == 0x1B {
                isInSequence = true
            } else if byte == 0x0A {
                rows += 1
                column = 0
            } else if byte == 0x09 {
                column += 8 - column % 8
            } else if byte != 0x0D, byte & 0xC0 != 0x80 {
                // A row is full only once another character follows.
                if column >= columns {
                    rows += 1
                    column = 0
                }
                column += 1
            }
        }
    }
}
