/// The header lines that are the host's own: they frame the message, control the connection, or are for a proxy (RFC 9110 §7.6.1,
/// RFC 9112 §6).
package enum TransportHeader {
    private static let names: [StaticString] = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te", "upgrade", "expect",
        "trailer", "proxy-authorization",
    ]

    /// Whether a name, in letters of any case, is one of them.
    package static func has(_ name: some Collection<UInt8>) -> Bool {
        names.contains { known in
            known.utf8CodeUnitCount == name.count
                && zip(UnsafeBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount), name)
                    .allSatisfy { $0 == $1.asciiLowercased }
        }
    }
}
