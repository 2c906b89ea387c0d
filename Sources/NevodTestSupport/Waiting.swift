import NevodSupport

// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    import Dispatch
    package import Testing
#endif

#if canImport(Testing)
    /// An event that any thread sets once, and that a test waits for.
    package final class Latch: Sendable {
        private struct State {
            var isSet = false
            var waiting: [@Sendable (Bool) -> Void] = []
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
            for resume in waiting { resume(isSet) }
        }

        /// - Parameter resume: called with true once the event is set, or with false after 40 seconds.
        private func whenFinished(_ resume: @escaping @Sendable (Bool) -> Void) {
            let isSet = state.withLock { state in
                if !state.isSet { state.waiting.append(resume) }
                return state.isSet
            }
            if isSet {
                resume(true)
            } else {
                DispatchQueue.global().asyncAfter(deadline: .now() + 40) { [weak self] in self?.finish(false) }
            }
        }

        private func check(_ isSet: Bool, _ sourceLocation: SourceLocation) {
            if !isSet { Issue.record("the event was not set within 40 seconds", sourceLocation: sourceLocation) }
        }

        /// Returns once the event is set; records an issue after 40 seconds, which no healthy machine needs.
        package func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
            let isSet = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                whenFinished { continuation.resume(returning: $0) }
            }
            check(isSet, sourceLocation)
        }

        /// Does the same as ``wait(sourceLocation:)``, for a thread that may block.
        package func waitOnThread(sourceLocation: SourceLocation = #_sourceLocation) {
            let semaphore = DispatchSemaphore(value: 0)
            let isSet = Locked(false)
            whenFinished { result in
                isSet.withLock { $0 = result }
                semaphore.signal()
            }
            semaphore.wait()
            check(isSet.withLock { $0 }, sourceLocation)
        }
    }
#endif

/// Waits until a condition holds; false after 60 seconds, which no healthy machine needs.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        // Polls, because the conditions of tests announce no changes. A cancelled test polls on without pause.
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}
