import Glibc
import NevodSupport
import Synchronization

/// Measures locks and secrets that eight threads want at once, compared with the C library's mutex and memory. Peers take turns.
struct ContentionBench {
    private static let threads = 8
    private static let uses = 20_000
    private static let rounds = 5

    /// A value guarded by the C library's mutex.
    private final class SystemLocked: @unchecked Sendable {  // `values` is touched only between lock and unlock.
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var values = ContentionBench.values

        init() {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        func increment() {
            pthread_mutex_lock(mutex)
            ContentionBench.increment(&values)
            pthread_mutex_unlock(mutex)
        }
    }

    private final class Counters: Sendable {
        let locked = Locked(ContentionBench.values)
        let mutex = Mutex(ContentionBench.values)
        let system = SystemLocked()
    }

    private static let values = [Int](repeating: 0, count: 32)

    /// The work under a lock takes as long as looking up and changing an entry of a table.
    private static func increment(_ values: inout [Int]) {
        for index in values.indices { values[index] &+= index }
    }

    private typealias Work = @Sendable () -> Void

    func run() {
        let counters = Counters()
        let key = [UInt8](repeating: 7, count: 32)
        let works: [(name: String, work: Work)] = [
            ("pthread mutex", { counters.system.increment() }), ("Locked", { counters.locked.withLock { Self.increment(&$0) } }),
            ("Synchronization.Mutex", { counters.mutex.withLock { Self.increment(&$0) } }),
            ("malloc and free", { free(malloc(32)) }), ("a secret made and freed", { _ = Secret(copying: key) }),
        ]
        row(["each use", "1 thread", "\(Self.threads) threads", "÷ 1 thread", "÷ pthread mutex at \(Self.threads)"])
        row(Array(repeating: "---", count: 5))
        var (alone, together) = (works.map { _ in [Double]() }, works.map { _ in [Double]() })
        for _ in 0..<Self.rounds {
            for (index, work) in works.enumerated() {
                alone[index].append(Self.nanoseconds(work.work, threads: 1))
                together[index].append(Self.nanoseconds(work.work, threads: Self.threads))
            }
        }
        for (index, work) in works.enumerated() {
            let (one, many) = (median(alone[index]), median(together[index]))
            row([
                work.name, "\(rounded(one, 1)) ns", "\(rounded(many, 1)) ns", rounded(many / one, 2),
                rounded(many / median(together[0]), 2),
            ])
        }
    }

    /// Returns the average time of one use.
    private static func nanoseconds(_ work: @escaping Work, threads count: Int) -> Double {
        let start = now()
        let threads = (0..<count).map { _ in
            var thread = pthread_t()
            let context = Unmanaged.passRetained(Box(work)).toOpaque()
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let work = Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work
                    for _ in 0..<ContentionBench.uses { work() }
                    return nil
                }, context)
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
        return (now() - start) / Double(count * uses) * 1e9
    }

    private final class Box: Sendable {
        let work: Work
        init(_ work: @escaping Work) { self.work = work }
    }
}
