/// Waits until a condition holds; false after 60 seconds, which no healthy machine needs.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        // Polled: the conditions of tests announce no changes. A cancelled test goes on polling without pause.
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}
