internal import NevodPluginABI
internal import NevodSupport

/// A token as its scheme decoded it, so that requests need not parse its bytes; or the contract's table of the stored bytes, for a
/// scheme that doesn't decode. Immutable.
final class LiveToken: Sendable {
    let instance: SchemeInstance
    /// The token of `authorize` and `on_response`. The contract allows concurrent use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?
    /// The memory of the table; nil for a decoded token. Written in `init` only, and freed with this object.
    private nonisolated(unsafe) let lent: BorrowedBytes?

    init(_ token: IssuedToken, of instance: SchemeInstance) throws(PluginError) {
        self.instance = instance
        guard let decode = instance.scheme.table.pointee.token_decode else {
            let lent = BorrowedBytes()
            handle = UnsafeMutableRawPointer(mutating: lent.lend(token.table(lent)))
            self.lent = lent
            return
        }
        lent = nil
        var handle: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = token.bytes.withUnsafeBytes { bytes in
            PluginCall.run("token_decode", isTimed: true, instance.services, errors: &errors) {
                decode(instance.handle, nevod_bytes(bytes), &handle, $0.errors)
            }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: "token_decode", of: instance.scheme) }
        self.handle = handle
    }

    deinit {
        guard lent == nil else { return }
        PluginCall.run("token_free", instance.services) { _ in
            instance.scheme.table.pointee.token_free?(instance.handle, handle)
        }
    }
}
