internal import NevodSupport

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends text with its upper-case ASCII letters in lower case, as signatures write the names of fields.
    @_lifetime(self: copy self)
    public mutating func append(lowercased text: Span<UInt8>) {
        for index in text.indices { append(byte: text[index].asciiLowercased) }
    }

    /// Appends a field's value without white space around it, and with one space for each run of spaces and tabs within.
    @_lifetime(self: copy self)
    public mutating func append(collapsed value: Span<UInt8>) {
        var isFirst = true
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == 0x20 || value[index] == 0x09 {
            if start < index {
                if !isFirst { append(ascii: " ") }
                isFirst = false
                append(value.extracting(start..<index))
            }
            start = index + 1
        }
    }
}
