import NevodSupport

/// Values that several threads collect.
package final class Collected<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    package init() {}

    package func append(_ value: Value) { state.withLock { $0.append(value) } }
    package var values: [Value] { state.withLock { $0 } }
}
