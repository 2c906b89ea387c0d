import Synchronization

/// Counts calls from any thread.
final class Counter: Sendable {
    private let calls = Mutex(0)

    var value: Int { calls.withLock(\.self) }

    @Sendable func count() { calls.withLock { $0 += 1 } }
}

/// Waits until a condition holds. Returns false after 60 seconds, which no healthy machine needs.
func eventually(_ condition: @Sendable () async throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}
