/// A token that `token_decode` returned; freed with this object. Keeps its instance alive.
package final class DecodedToken: Sendable {
    /// The contract allows use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?
    let instance: ContractInstance

    init(_ handle: UnsafeMutableRawPointer?, of instance: ContractInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit { instance.free(token: handle) }
}
