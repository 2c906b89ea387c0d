internal import CLinux
internal import Glibc
internal import NevodPluginABI

/// A thread with the stack that the contract promises, and what the host's own frames need.
enum SmallStack {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    private static let own = 96 << 10

    /// Runs `body` and waits for it.
    ///
    /// - Returns: false if the system can't create the thread.
    static func run(_ body: @escaping () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let status = nevod_thread_with_stack(
            Int(NEVOD_LIMIT_STACK) + own, &thread,
            { work in
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            work.release()
            return false
        }
        pthread_join(thread, nil)
        return true
    }
}
