import Glibc

/// Runs `work` on a new thread, which may block; those of Swift's pool may not.
package func onThread(_ work: @escaping @Sendable () -> Void) {
    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(work)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
    pthread_detach(thread)
}

/// Awaits a blocking call on a thread of its own, which leaves those of Swift's pool to other tests.
package func onOwnThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        onThread { continuation.resume(with: Result { try body() }) }
    }
}
