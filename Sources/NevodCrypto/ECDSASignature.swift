internal import COpenSSL

/// Signatures of ECDSA in two forms: r and s one after the other (RFC 7518 §3.4), or a DER sequence of two integers, as in
/// libcrypto.
package enum ECDSASignature {
    /// The size of the longest sequence, for P-521: each integer has up to 67 bytes.
    private static let capacity = 3 + 2 * (2 + 67)

    /// - Returns: nil if the signature doesn't have the exact length.
    package static func withDER<Result>(
        _ signature: UnsafeRawBufferPointer, coordinateSize: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        guard coordinateSize > 0, coordinateSize <= 66, signature.count == 2 * coordinateSize else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { der in
            // Written from back to front, because each length comes before what it counts.
            var start = der.count
            prepend(integer: UnsafeRawBufferPointer(rebasing: signature[coordinateSize...]), to: der, &start)
            prepend(integer: UnsafeRawBufferPointer(rebasing: signature[..<coordinateSize]), to: der, &start)
            prependLength(der.count - start, to: der, &start)
            prepend(0x30, to: der, &start)
            return body(UnsafeRawBufferPointer(rebasing: der[start...]))
        }
    }

    /// Returns r and s one after the other.
    ///
    /// - Returns: nil if the DER isn't a sequence of two integers that fit that size.
    package static func raw(_ der: UnsafeRawBufferPointer, coordinateSize: Int) -> [UInt8]? {
        var next = der.bytes
        guard let signature = d2i_ECDSA_SIG(nil, &next, der.count) else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 2 * coordinateSize)
        let size = Int32(clamping: coordinateSize)
        let isWritten = raw.withUnsafeMutableBufferPointer { raw in
            BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, size) == size
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress.map { $0 + coordinateSize }, size) == size
        }
        return isWritten ? raw : nil
    }

    private static func prepend(_ byte: UInt8, to der: UnsafeMutableRawBufferPointer, _ start: inout Int) {
        start -= 1
        der[start] = byte
    }

    /// Writes a length of up to 255.
    private static func prependLength(_ length: Int, to der: UnsafeMutableRawBufferPointer, _ start: inout Int) {
        prepend(UInt8(truncatingIfNeeded: length), to: der, &start)
        if length >= 0x80 { prepend(0x81, to: der, &start) }
    }

    /// Writes an integer without leading zeros. Adds one zero byte if the first bit is set, because that bit would be read as a
    /// sign.
    private static func prepend(
        integer: UnsafeRawBufferPointer, to der: UnsafeMutableRawBufferPointer, _ start: inout Int
    ) {
        let end = start
        let first = integer.firstIndex { $0 != 0 } ?? integer.count - 1
        for byte in integer[first...].reversed() { prepend(byte, to: der, &start) }
        if integer[first] >= 0x80 { prepend(0, to: der, &start) }
        prependLength(end - start, to: der, &start)
        prepend(0x02, to: der, &start)
    }
}
