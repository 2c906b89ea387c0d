internal import NevodSupport

/// The renewals that the current task runs as part of. Requests of such a task must not wait for these renewals.
enum RenewalContext {
    /// From the outermost to the innermost.
    @TaskLocal static var renewals: [Renewal] = []

    /// The innermost unfinished renewal of a coordinator's token; nil if the current task belongs to none.
    static func renewal(of coordinator: ObjectIdentifier) -> Renewal? {
        renewals.last { $0.coordinator == coordinator && !$0.isFinished }
    }

    /// Called before a request is sent: one that belongs to a renewal is not sent if another process has taken over the renewal.
    static func willSend(_ request: HTTPRequest) async throws {
        let renewals = renewals
        guard !renewals.isEmpty else { return }
        let isSafe = request.method == .get || request.method == .head
        for renewal in renewals where !renewal.isFinished { try await renewal.willSend(isSafe: isSafe) }
    }

    private static let waits = Locked(RenewalWaits())

    /// Runs `wait`, which waits for the renewal of a coordinator's token.
    ///
    /// Returns nil without waiting if that renewal itself waits for one that the current task belongs to: two services whose
    /// strategies each need the other's token would deadlock.
    static func waitForRenewal<Success: Sendable>(
        of coordinator: ObjectIdentifier, _ wait: () async throws -> Success
    ) async throws -> Success? {
        let own = renewals.filter { !$0.isFinished }.map(\.coordinator)
        guard !own.isEmpty else { return try await wait() }
        guard waits.withLock({ $0.begin(own, coordinator) }) else { return nil }
        defer { waits.withLock { $0.end(own, coordinator) } }
        return try await wait()
    }
}
