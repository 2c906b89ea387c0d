internal import Dispatch
internal import NevodSupport
internal import Testing

/// Something that happens once, on any thread, and that a test waits for.
final class Latch: Sendable {
    private struct State {
        var isSet = false
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let state = Locked(State())

    func set() { finish(true) }

    private func finish(_ isSet: Bool) {
        let waiting = state.withLock { state in
            state.isSet = state.isSet || isSet
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: isSet) }
    }

    /// Records an issue after a time that no healthy machine needs.
    func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
        let isSet = await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiting.append(continuation) }
                return state.isSet
            }
            if isSet {
                continuation.resume(returning: true)
            } else {
                DispatchQueue.global().asyncAfter(deadline: .now() + 40) { [weak self] in self?.finish(false) }
            }
        }
        if !isSet { Issue.record("waited in vain", sourceLocation: sourceLocation) }
    }
}

extension Latch {
    /// For threads that may block.
    func waitOnThread() {
        let semaphore = DispatchSemaphore(value: 0)
        Task {
            await wait()
            semaphore.signal()
        }
        _ = semaphore.wait(timeout: .now() + 30)
    }
}

/// Values that several threads collect.
final class Collected<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    func append(_ value: Value) { state.withLock { $0.append(value) } }
    var values: [Value] { state.withLock { $0 } }
}

/// Waits until a condition holds; false after a time that no healthy machine needs.
func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { return false }
        await Task.yield()
    }
    return true
}
