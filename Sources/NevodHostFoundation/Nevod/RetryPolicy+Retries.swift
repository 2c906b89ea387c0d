internal import NevodHost

extension RetryPolicy {
    /// The policy that two parameters describe: `retryPolicy` counts, or else a number of retries, or else the default.
    init(_ policy: RetryPolicy?, retries: Int?) {
        guard let policy else {
            self = .default
            if let retries { maxAttempts = max(0, min(retries, 1_000_000)) + 1 }
            return
        }
        self = policy
    }
}
