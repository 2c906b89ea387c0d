internal import Glibc
internal import NevodSupport

/// Threads of a check, which all begin together.
enum Threads {
    /// Runs a function on several threads at once.
    ///
    /// - Parameters:
    ///   - count: how many threads.
    ///   - body: called with the number of the thread.
    /// - Returns: the results, in the order of the numbers.
    static func run<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Result) -> [Result] {
        let results = Locked([Result?](repeating: nil, count: count))
        let waiting = Locked(count)
        var threads: [pthread_t] = []
        for number in 0..<count {
            let job = Job {
                waiting.withLock { $0 -= 1 }
                // A few microseconds: all threads are needed at the same moment.
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
