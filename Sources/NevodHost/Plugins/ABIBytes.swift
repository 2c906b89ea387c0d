internal import NevodPluginABI
internal import NevodSupport

// All conversions between Swift values and the contract's borrowed bytes.

extension nevod_bytes {
    /// The bytes; valid as long as the contract lends them.
    var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: count == 0 ? nil : data, count: data == nil ? 0 : Int(clamping: count))
    }

    /// One line of text to show to people: at most `NEVOD_LIMIT_MESSAGE` bytes, with invalid UTF-8 and control characters replaced.
    var message: String {
        let text = String(decoding: buffer.prefix(Int(NEVOD_LIMIT_MESSAGE)), as: UTF8.self)
        let isUnsafe = { (scalar: Unicode.Scalar) in scalar.isUnsafeAtTerminal || scalar == "\t" }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

    /// One line of a log: at most `NEVOD_LIMIT_MESSAGE` bytes, with invalid UTF-8 and control characters other than tabs as escapes,
    /// since the bytes that a scheme signed may be looked for there.
    var logLine: String { TerminalText.safe(buffer.prefix(Int(NEVOD_LIMIT_MESSAGE))) }

    init(_ buffer: UnsafeBufferPointer<UInt8>) {
        self.init(data: buffer.baseAddress, count: UInt64(buffer.count))
    }

    init(_ buffer: UnsafeRawBufferPointer) {
        self.init(buffer.assumingMemoryBound(to: UInt8.self))
    }

    init(_ string: StaticString) {
        self.init(data: string.utf8Start, count: UInt64(string.utf8CodeUnitCount))
    }

    static var empty: nevod_bytes { nevod_bytes(data: nil, count: 0) }
}
