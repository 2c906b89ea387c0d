public import NevodPluginABI

/// The changes that `authorize` may make. The host checks each edit, records which scheme made it, redacts it in logs, and removes
/// it when a redirect leaves the origin. A refused edit fails the request with the host's reason.
public struct Edits {
    @usableFromInline let edits: UnsafePointer<nevod_edits>

    @inlinable
    init(_ edits: UnsafePointer<nevod_edits>) {
        self.edits = edits
    }

    /// Replaces all lines of that name, or appends one.
    @inlinable
    public func setHeader(_ name: StaticString, _ value: some HeaderValue) {
        value.withHeaderBytes { _ = edits.pointee.set_header(edits.pointee.host, nevod_bytes(borrowing: name), $0) }
    }

    /// Replaces all lines of that name, or appends one. For a value that was built as bytes.
    @inlinable
    public func setHeader(_ name: StaticString, _ value: Span<UInt8>) {
        value.withUnsafeBufferPointer {
            _ = edits.pointee.set_header(edits.pointee.host, nevod_bytes(borrowing: name), nevod_bytes(borrowing: $0))
        }
    }

    /// Replaces all lines of that name, or appends one. For a name from a setting.
    public func setHeader(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.set_header(edits.pointee.host, name, $0) } }
    }

    /// Replaces all lines of that name, or appends one. For a name that is stored as bytes, which is faster than a string.
    @inlinable
    public func setHeader(_ name: [UInt8], _ value: Span<UInt8>) {
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer {
                _ = edits.pointee.set_header(edits.pointee.host, nevod_bytes(borrowing: name), nevod_bytes(borrowing: $0))
            }
        }
    }

    /// Appends a line and keeps the others of that name.
    public func addHeader(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.add_header(edits.pointee.host, name, $0) } }
    }

    /// Appends `name=value` to the query, percent-encoded. The rest of the query stays byte for byte.
    public func addQueryItem(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.add_query(edits.pointee.host, name, $0) } }
    }

    /// Appends `name=value` to the query. For a name and a value that are stored as bytes, which is faster than strings.
    @inlinable
    public func addQueryItem(_ name: [UInt8], _ value: Span<UInt8>) {
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer {
                _ = edits.pointee.add_query(edits.pointee.host, nevod_bytes(borrowing: name), nevod_bytes(borrowing: $0))
            }
        }
    }

    /// Replaces the body, unless it is a stream. The host writes Content-Length. Requires ``Needs/bodyReplacement``.
    ///
    /// - Parameter bytes: at most 16 MiB.
    public func replaceBody(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { _ = edits.pointee.replace_body(edits.pointee.host, nevod_bytes(borrowing: $0)) }
    }

    /// Replaces the body by bytes that `wrapper` makes of it while it is sent. Requires ``Needs/bodyReplacement``, and a body of known
    /// length.
    ///
    /// - Parameters:
    ///   - length: the bytes that `wrapper` will write; the host sends it as Content-Length.
    ///   - wrapper: called with each piece of the original body.
    public func wrapBody(length: UInt64, with wrapper: some BodyWrapper) {
        // The host has it freed in any case, also if it refuses the edit.
        let box = Unmanaged.passRetained(BodyWrapping(wrapper))
        _ = edits.pointee.wrap_body(edits.pointee.host, length, box.toOpaque())
    }

    /// Adds a cookie to the Cookie header (RFC 6265 §5.4).
    public func addCookie(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.add_cookie(edits.pointee.host, name, $0) } }
    }

    /// Adds a cookie. For a name and a value that are stored as bytes.
    @inlinable
    public func addCookie(_ name: [UInt8], _ value: Span<UInt8>) {
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer {
                _ = edits.pointee.add_cookie(edits.pointee.host, nevod_bytes(borrowing: name), nevod_bytes(borrowing: $0))
            }
        }
    }
}

extension nevod_bytes {
    @inlinable
    init(borrowing buffer: UnsafeBufferPointer<UInt8>) {
        self.init(data: buffer.baseAddress, count: UInt64(buffer.count))
    }

    @inlinable
    init(borrowing string: StaticString) {
        self.init(data: string.utf8Start, count: UInt64(string.utf8CodeUnitCount))
    }
}
