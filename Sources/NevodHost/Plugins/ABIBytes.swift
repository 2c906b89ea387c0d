internal import NevodPluginABI

// The whole of the conversion between Swift's values and the contract's borrowed bytes.

extension nevod_bytes {
    /// The bytes, for as long as the contract lends them.
    var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: count == 0 ? nil : data, count: data == nil ? 0 : Int(clamping: count))
    }

    /// For people: whatever isn't UTF-8 is replaced, and nothing is longer than a line.
    var message: String {
        let text = String(decoding: buffer.prefix(1024), as: UTF8.self)
        let isUnsafe = { (scalar: Unicode.Scalar) in scalar.isUnsafeAtTerminal || scalar == "\t" }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

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

/// The bytes of a string, for the call.
@inline(__always)
func withBytes(_ string: String, _ body: (nevod_bytes) -> Int32) -> Int32 {
    var string = string
    return string.withUTF8 { body(nevod_bytes($0)) }
}
