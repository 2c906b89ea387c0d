internal import NevodPluginABI

/// Owns the pointer that a scheme passed to `wrap_body`, and has the scheme free it.
final class BodyWrapping: Sendable {
    let instance: SchemeInstance
    /// The contract allows `body_free` on any thread, and calls of `body_piece` are serial.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    init(_ handle: UnsafeMutableRawPointer?, of instance: SchemeInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit {
        guard let free = instance.scheme.table.pointee.body_free else { return }
        PluginCall.run("body_free", instance.services) { [instance, handle] _ in free(instance.handle, handle) }
    }

    /// Returns the body that `body_piece` makes of another one.
    ///
    /// - Parameters:
    ///   - original: its length is known.
    ///   - length: the bytes of the new body.
    ///   - work: that of the request.
    func body(of original: HTTPBody, length: Int64, _ work: RequestWork?) -> HTTPBody {
        let use = SingleUse()
        return .stream(
            // The work may hold the request, and with it this body.
            HTTPBodyStream(madeAnewOf: original, length: length) { [weak work] in
                guard use.begin() else { throw BodyLengthError("a wrapped body can be sent only once") }
                return WrappedBodyReader(
                    try original.reader(), length: original.length ?? 0, wrapping: self, wrappedLength: length,
                    work: work)
            })
    }
}

extension HTTPBody {
    /// Returns a reader at the start of the body.
    fileprivate func reader() throws -> any HTTPBodyReader {
        switch self {
        case .none: ArrayReader([])
        case .bytes(let bytes): ArrayReader(bytes)
        case .stream(let stream): try stream.open()
        }
    }
}

/// Reads a body in memory.
private actor ArrayReader: HTTPBodyReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func read(upTo count: Int) -> [UInt8] {
        let count = max(0, count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
