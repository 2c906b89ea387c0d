// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    import Dispatch
    import NevodSupport
    package import Testing

    /// An event that any thread sets once, and that a test waits for.
    package final class Latch: Sendable {
        private struct State {
            var isSet = false
            var waiting: [CheckedContinuation<Bool, Never>] = []
        }

        private let state = Locked(State())

        package init() {}

        package var isSet: Bool { state.withLock { $0.isSet } }

        package func set() { finish(true) }

        private func finish(_ isSet: Bool) {
            let waiting = state.withLock { state in
                state.isSet = state.isSet || isSet
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume(returning: isSet) }
        }

        /// Returns once the event is set; records an issue after 40 seconds, which no healthy machine needs.
        package func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
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
        /// The same for a thread that may block.
        package func waitOnThread() {
            let semaphore = DispatchSemaphore(value: 0)
            Task {
                await wait()
                semaphore.signal()
            }
            _ = semaphore.wait(timeout: .now() + 30)
        }
    }
#endif
