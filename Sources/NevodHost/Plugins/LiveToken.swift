internal import NevodPluginABI
internal import NevodSupport

/// What a scheme has made of a token's bytes, so that no request pays for parsing: immutable, until it is freed.
final class LiveToken: Sendable {
    let instance: SchemeInstance
    /// The contract lets any thread use it, many at once.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    /// Nil: the scheme doesn't decode tokens.
    init?(_ token: IssuedToken, of instance: SchemeInstance) throws(PluginError) {
        guard let decode = instance.scheme.table.pointee.token_decode else { return nil }
        var handle: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = token.bytes.withUnsafeBytes { bytes in
            errors.withTable { decode(instance.handle, nevod_bytes(bytes), &handle, $0) }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: "token_decode", of: instance.scheme) }
        self.instance = instance
        self.handle = handle
    }

    deinit {
        instance.scheme.table.pointee.token_free?(instance.handle, handle)
    }
}
