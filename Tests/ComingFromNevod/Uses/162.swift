// Retry / rate limit: `RateLimiting conformance: acquirePermit()`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private struct Unlimited: RateLimiting {
        func acquirePermit() async throws {}
    }

    private func use() async throws {
        let limiter: any RateLimiting = Unlimited()
        try await limiter.acquirePermit()
    }
#else
    private struct Unlimited: RateLimiting {
        func acquire() async throws {}
    }

    private func use() async throws {
        let limiter: any RateLimiting = Unlimited()
        try await limiter.acquirePermit()
    }
#endif
