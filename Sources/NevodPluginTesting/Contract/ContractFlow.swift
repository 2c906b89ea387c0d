/// A flow that `flow_begin` made; freed with this object. Keeps its instance alive.
/// Sendable unchecked, since the contract allows changing threads, and its user makes one step after the other.
package final class ContractFlow: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer?
    private let instance: ContractInstance

    init(_ handle: UnsafeMutableRawPointer?, of instance: ContractInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit { instance.free(flow: handle) }

    /// Calls `flow_step`.
    package func step(_ event: ContractEvent) -> ContractOutcome { instance.step(handle, event) }
}
