public import NevodPluginABI
public import NevodSupport

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

    /// Replaces all lines of that name, or appends one. Takes a value that was built as bytes.
    @inlinable
    public func setHeader(_ name: StaticString, _ value: Span<UInt8>) {
        value.withUnsafeBufferPointer {
            _ = edits.pointee.set_header(edits.pointee.host, nevod_bytes(borrowing: name), nevod_bytes(borrowing: $0))
        }
    }

    /// Replaces all lines of that name, or appends one. Takes a name that comes from a setting.
    public func setHeader(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.set_header(edits.pointee.host, name, $0) } }
    }

    /// Replaces all lines of that name, or appends one. Takes a name that is stored as bytes, which is faster than a string.
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

    /// Appends `name=value` to the query. Takes a name and a value that are stored as bytes, which is faster than strings.
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

    /// Replaces the body with bytes that `wrapper` makes from it while it is sent. Requires ``Needs/bodyReplacement`` and a body of
    /// known length.
    ///
    /// - Parameters:
    ///   - length: the number of bytes that `wrapper` will write; the host sends it as Content-Length.
    ///   - wrapper: called with each piece of the original body.
    public func wrapBody(length: UInt64, with wrapper: some BodyWrapper) {
        // The host frees it even if it refuses the edit.
        let box = Unmanaged.passRetained(BodyWrapping(wrapper))
        _ = edits.pointee.wrap_body(edits.pointee.host, length, box.toOpaque())
    }

    /// Adds a cookie to the Cookie header (RFC 6265 §5.4).
    public func addCookie(_ name: String, _ value: some HeaderValue) {
        withBytes(name) { name in value.withHeaderBytes { _ = edits.pointee.add_cookie(edits.pointee.host, name, $0) } }
    }

    /// Adds a cookie. Takes a name and a value that are stored as bytes.
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

/// A value of an edit: a string or a secret.
public protocol HeaderValue {
    /// Lends the bytes for the call; the host copies what it keeps.
    func withHeaderBytes(_ body: (nevod_bytes) -> Void)
}

extension String: HeaderValue {
    @inlinable
    public func withHeaderBytes(_ body: (nevod_bytes) -> Void) {
        var copy = self
        copy.withUTF8 { body(nevod_bytes(borrowing: $0)) }
    }
}

extension Secret: HeaderValue {
    public func withHeaderBytes(_ body: (nevod_bytes) -> Void) {
        withUnsafeBytes { body(nevod_bytes($0)) }
    }
}

/// Turns the request's body into the body that is sent, piece by piece, during sending; see ``Edits/wrapBody(length:with:)``.
///
/// ```swift
/// /// Puts two bytes around the body.
/// struct Quoted: BodyWrapper {
///     private var hasBegun = false
///
///     mutating func wrap(_ piece: Span<UInt8>, isLast: Bool, into output: BodyOutput) {
///         if !hasBegun { output.write([UInt8(ascii: "<")]) }
///         hasBegun = true
///         output.write(piece)
///         if isLast { output.write([UInt8(ascii: ">")]) }
///     }
/// }
/// ```
public protocol BodyWrapper: Sendable {
    /// Writes the next bytes of the new body, any number of them. Calls are serial, on changing threads.
    ///
    /// - Parameters:
    ///   - piece: the next bytes of the original body.
    ///   - isLast: true for the last piece, which may be empty. By the end of that call, all announced bytes must have been
    ///     written.
    ///   - output: takes the new bytes.
    mutating func wrap(_ piece: Span<UInt8>, isLast: Bool, into output: BodyOutput) throws(SchemeError)
}

/// Takes the bytes of a wrapped body. Valid during the call that it is passed to.
public struct BodyOutput {
    private let output: UnsafePointer<nevod_output>

    init(_ output: UnsafePointer<nevod_output>) {
        self.output = output
    }

    /// Appends bytes. The request fails if there are more than announced.
    public func write(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { _ = output.pointee.write(output.pointee.host, nevod_bytes($0)) }
    }

    /// The same for an array.
    public func write(_ bytes: [UInt8]) { write(bytes.span) }
}

/// The target of the host's pointer to a wrapping.
final class BodyWrapping {
    let wrap: (Span<UInt8>, Bool, BodyOutput) throws(SchemeError) -> Void

    private init(_ wrap: @escaping (Span<UInt8>, Bool, BodyOutput) throws(SchemeError) -> Void) {
        self.wrap = wrap
    }

    convenience init(_ wrapper: some BodyWrapper) {
        var wrapper = wrapper
        self.init { piece, isLast, output throws(SchemeError) in try wrapper.wrap(piece, isLast: isLast, into: output) }
    }
}
