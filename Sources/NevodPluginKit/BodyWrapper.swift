internal import NevodPluginABI

/// Makes the body that is sent out of the request's own, piece by piece, while it is sent; see ``Edits/wrapBody(length:with:)``.
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
    ///   - isLast: true for the last piece, which may be empty. All announced bytes must then have been written.
    ///   - output: takes the new bytes.
    mutating func wrap(_ piece: Span<UInt8>, isLast: Bool, into output: BodyOutput) throws(SchemeError)
}

/// Takes the bytes of a wrapped body. Valid during the call that it is passed to.
public struct BodyOutput {
    private let output: UnsafePointer<nevod_output>

    init(_ output: UnsafePointer<nevod_output>) {
        self.output = output
    }

    /// Appends bytes. More than were announced fail the request.
    public func write(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { _ = output.pointee.write(output.pointee.host, nevod_bytes($0)) }
    }

    /// The same for an array.
    public func write(_ bytes: [UInt8]) { write(bytes.span) }
}

/// The object behind the host's pointer to a wrapping.
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
