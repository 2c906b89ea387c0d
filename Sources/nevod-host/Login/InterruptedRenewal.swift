import NevodHost
import NevodSupport

/// Keeps a command from ending in the middle of a renewal, when the old session may already be spent.
extension SchemeLogin {
    /// The longest waits before the command ends, in seconds: for a pending token, and for a lock that is being released.
    private static let gracePeriod = 30
    private static let releasePeriod = 3

    /// Does work whose requests may renew tokens, and waits until renewed tokens are saved, even if the work fails or a signal
    /// cancels it.
    ///
    /// - Parameter logins: the logins of the requests; nil for a request without a login.
    static func savingTokens<Success: Sendable>(
        of logins: [SchemeLogin?], on session: CurlSession, _ work: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let logins = logins.compactMap { $0 }
        guard !logins.isEmpty else { return try await work() }
        return try await Interruption.shared.cancelling(on: session.executor, gracePeriod: gracePeriod) {
            let result: Result<Success, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            for login in logins { await Interruption.shared.rescuing(login.saveToken) }
            return try result.get()
        }
    }

    /// Waits until a pending renewal has finished and its token is saved, and warns if the token is not saved.
    private func saveToken() async {
        guard let session = stored.withLock(\.self) else { return }
        // Waits in separate tasks: this one may be cancelled, and would then not wait.
        guard hasSent else {
            // A scheme that has sent nothing has spent no token: a renewal would only be waiting for another process, or a person.
            let end = ContinuousClock.now + .seconds(Self.releasePeriod)
            return await Task(executorPreference: executor) { await session.waitForRelease(until: end) }.value
        }
        let console = console
        let notice = Task {
            try await Task.sleep(for: .seconds(1))
            console.inform(
                "waiting up to \(Self.gracePeriod) s for the response to a token renewal; without it the session would be lost")
        }
        defer { notice.cancel() }
        let end = ContinuousClock.now + .seconds(Self.gracePeriod)
        let saving = Task(executorPreference: executor) { await session.waitForRenewalAndSave(until: end) }
        guard await !saving.value else { return }
        console.warning(
            "the session was renewed but could not be saved; if the server refuses it, run: \(LoginCommandLine.text(arguments))")
    }
}
