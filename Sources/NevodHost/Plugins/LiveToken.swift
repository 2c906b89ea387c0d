internal import NevodPluginABI
internal import NevodSupport

/// A token as its scheme decoded it, so that requests need not parse its bytes. Immutable.
final class LiveToken: Sendable {
    let instance: SchemeInstance
    /// The contract allows concurrent use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    /// Returns nil if the scheme doesn't decode tokens.
    init?(_ token: IssuedToken, of instance: SchemeInstance) throws(PluginError) {
        guard let decode = instance.scheme.table.pointee.token_decode else { return nil }
        var handle: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = token.bytes.withUnsafeBytes { bytes in
            PluginCall.run("token_decode", isTimed: true, instance.services, errors: &errors) {
                decode(instance.handle, nevod_bytes(bytes), &handle, $0.errors)
            }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: "token_decode", of: instance.scheme) }
        self.instance = instance
        self.handle = handle
    }

    deinit {
        PluginCall.run("token_free", instance.services) { _ in
            instance.scheme.table.pointee.token_free?(instance.handle, handle)
        }
    }
}
