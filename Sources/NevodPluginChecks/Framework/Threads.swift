internal import CLinux
internal import Glibc
internal import NevodPluginABI
internal import NevodSupport

/// Threads of a check that all begin together.
enum Threads {
    /// Runs a function on several threads at once.
    ///
    /// - Parameters:
    ///   - count: the number of threads.
    ///   - body: called with the number of the thread.
    /// - Returns: the results, in the order of the numbers.
    static func run<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Result) -> [Result] {
        let results = Locked([Result?](repeating: nil, count: count))
        let waiting = Locked(count)
        var threads: [pthread_t] = []
        for number in 0..<count {
            let job = Job {
                waiting.withLock { $0 -= 1 }
                // Spins for a few microseconds, because all threads must start at the same moment.
                while waiting.withLock({ $0 > 0 }) { sched_yield() }
                let result = body(number)
                results.withLock { $0[number] = result }
            }
            let pointer = Unmanaged.passRetained(job).toOpaque()
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().run() }
                    return nil
                }, pointer)
            if failure == 0 {
                threads.append(thread)
            } else {
                Unmanaged<Job>.fromOpaque(pointer).release()
                waiting.withLock { $0 -= 1 }
            }
        }
        for thread in threads { pthread_join(thread, nil) }
        return results.withLock { $0.compactMap { $0 } }
    }

    private final class Job {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// A thread with the stack size that the contract promises, plus room for the host's own frames.
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
