internal import NevodHost
internal import NevodStorage
internal import NevodSupport

extension AnyKeyValueStorage {
    /// Runs the body under the storage's renewal lock for a key, if it has one, and returns what the body returns.
    func locked<Outcome: Sendable>(
        _ key: StorageKey, _ body: @escaping @Sendable () async throws -> Outcome
    ) async throws -> Outcome {
        guard let withRenewalLock else { return try await body() }
        let result = Locked<Result<Outcome, any Error>?>(nil)
        try await withRenewalLock(key) {
            do {
                // It may have been lost while this process was suspended.
                try await confirmRenewalLock?(key)
                let outcome = try await body()
                result.withLock { $0 = .success(outcome) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        guard let result = result.withLock({ $0 }) else {
            throw StorageError(
                .other, "\(key)", problem: "the storage's lock did not run the change", remedy: "correct the storage")
        }
        return try result.get()
    }
}
