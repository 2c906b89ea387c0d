extension StaticString {
    /// As C's functions take it, with a NUL behind it.
    package var characters: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

extension UnsafeRawBufferPointer {
    /// As libcrypto takes it.
    package var bytes: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
