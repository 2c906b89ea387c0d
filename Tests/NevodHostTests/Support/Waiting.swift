internal import Dispatch
internal import NevodSupport
internal import Testing

/// Something that happens once, on any thread, and that a test waits for.
final class Latch: Sendable {
    private let state = Locked<(isSet: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func set() {
        let waiting = state.withLock { state in
            state.isSet = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    var isSet: Bool { state.withLock { $0.isSet } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiting.append(continuation) }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
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
    let end = ContinuousClock.now + .seconds(20)
    while !condition() {
        guard ContinuousClock.now < end else { return false }
        await Task.yield()
    }
    return true
}

/// Several exit tests at once end in a deadlock of the test library under ThreadSanitizer.
let inOwnProcess: ConditionTrait = {
    #if NEVOD_THREAD_SANITIZER
        .disabled("ThreadSanitizer")
    #else
        .enabled(if: true)
    #endif
}()
