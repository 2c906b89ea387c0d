internal import NevodSupport

/// A renewed token that can't be saved now. It is used from memory, and saved as soon as the storage allows.
enum UnsavedToken {
    /// How long an unsaved token holds the renewal lock: half the time that other processes wait for the lock.
    static let longestHold: Duration = .seconds(60)
}

extension TokenCoordinator {
    /// Keeps in memory a renewed token that can't be written now, because the stored token is no longer valid.
    ///
    /// - Parameter version: the version of the token that was renewed. If it is no longer current, as after a logout, the new
    ///   token is dropped.
    func keepInMemory(_ token: Token, replacing version: TokenVersion) throws {
        let bytes = try encoded(token)
        let renewal = renewalTime(of: token)
        _ = memory.withLock { $0.installUnsaved(token, bytes, ifVersion: version, renewal: renewal) }
        tellReaders()
    }

    /// Whether a renewed token is in memory but not yet written.
    var hasUnsaved: Bool { memory.withLock { $0.unsaved != nil } }

    /// - Returns: whether nothing is left to be saved.
    func saveUnsaved() async throws -> Bool {
        do {
            try await trySavingUnsaved()
            return true
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return false
        }
    }

    /// Retries until the timeout. The time during which the storage is unreachable doesn't count: until then, other processes
    /// can't reach it either, and afterwards the first one would spend the outdated token.
    func retrySaving(then done: @escaping @Sendable () -> Void) {
        Task {
            defer { done() }
            var deadline = ContinuousClock.now + savingTimeout
            var pause = Duration.milliseconds(50)
            while hasUnsaved, ContinuousClock.now < deadline {
                let start = ContinuousClock.now
                var isAway = false
                do {
                    try await trySavingUnsaved()
                    return
                } catch let error as StorageError {
                    isAway = error.code == .unavailable
                } catch {}
                try? await Task.sleep(for: pause)
                if isAway { deadline += .now - start }
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func trySavingUnsaved() async throws {
        try await writing.withLock {
            // While this task waited for the lock, another one may have saved the token, or replaced it: a logout is final.
            guard let unsaved = self.memory.withLock({ $0.unsaved }) else { return }
            let isWritten = try await self.storage.replace(self.key, unsaved.expected, unsaved.bytes)
            self.memory.withLock { $0.forgetUnsaved(isWritten: isWritten) }
        }
    }
}
