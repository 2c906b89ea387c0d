import NevodSupport

/// Values that several threads collect.
package final class Collected<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    package init() {}

    package func append(_ value: Value) { state.withLock { $0.append(value) } }
    package var values: [Value] { state.withLock { $0 } }
}

extension String {
    /// Whether a scheme has logged this line. On a busy machine the host adds one, about a call that took too long.
    package var isLoggedByScheme: Bool { !contains("doesn't say that it blocks (NEVOD_SCHEME_BLOCKS)") }
}
