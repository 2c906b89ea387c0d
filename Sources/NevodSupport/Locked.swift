#if NEVOD_THREAD_SANITIZER
    private import Glibc
#elseif !canImport(Glibc) && !hasFeature(Embedded)
    public import Synchronization
#endif

/// A value protected by a lock, for use by many threads at once.
///
/// On Linux the lock is a futex word, not `Synchronization.Mutex`. The kernel lock of a `Mutex` passes from its holder to a
/// waiter, so with more threads than processors each use costs a switch of threads (8 threads on 2 processors: up to 35 µs
/// instead of 20 ns, measured). Here a running thread may take the lock before a waiter has woken. ThreadSanitizer knows neither
/// lock, so under it the lock is a pthread mutex.
public struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    #if NEVOD_THREAD_SANITIZER
        private final class Storage: @unchecked Sendable {  // `value` is touched only between lock and unlock.
            var mutex = pthread_mutex_t()
            var value: Value
            init(_ value: consuming Value) {
                self.value = value
                pthread_mutex_init(&mutex, nil)
            }
            deinit { pthread_mutex_destroy(&mutex) }
        }
        private let storage: Storage

        /// - Parameter value: if it is a reference, it must be the only reference to its object.
        public init(_ value: consuming sending Value) {
            storage = Storage(value)
        }

        /// Runs `body` with exclusive access. `body` must be short, must not wait, and must not take the same lock again, which
        /// deadlocks.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(&storage.mutex)
            defer { pthread_mutex_unlock(&storage.mutex) }
            return try body(&storage.value)
        }
    #elseif canImport(Glibc) || hasFeature(Embedded)
        @usableFromInline let lock = FutexLock()
        @usableFromInline let cell: LockedCell<Value>

        /// - Parameter value: if it is a reference, it must be the only reference to its object.
        @inlinable
        public init(_ value: consuming sending Value) {
            cell = LockedCell(value)
        }

        /// Runs `body` with exclusive access. `body` must be short, must not wait, and must not take the same lock again, which
        /// deadlocks.
        @inlinable
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            lock.lock()
            defer { lock.unlock() }
            return try cell.access(body)
        }
    #else
        @usableFromInline let mutex: Mutex<Value>

        /// - Parameter value: if it is a reference, it must be the only reference to its object.
        @inlinable
        public init(_ value: consuming sending Value) {
            mutex = Mutex(value)
        }

        /// Runs `body` with exclusive access. `body` must be short, must not wait, and must not take the same lock again, which
        /// deadlocks.
        @inlinable
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    #endif
}

#if (canImport(Glibc) || hasFeature(Embedded)) && !NEVOD_THREAD_SANITIZER
    internal import Builtin

    /// Memory for the value of a ``Locked``. It has no other owner and doesn't move while it is borrowed, so a borrower may write
    /// it.
    @usableFromInline @frozen @_rawLayout(like: Value, movesAsLike)
    struct LockedCell<Value: ~Copyable>: ~Copyable {
        @inlinable
        init(_ value: consuming sending Value) {
            address.initialize(to: value)
        }

        @inlinable
        deinit {
            address.deinitialize(count: 1)
        }

        @inlinable
        var address: UnsafeMutablePointer<Value> { UnsafeMutablePointer(Builtin.addressOfRawLayout(self)) }

        /// Only for the holder of the lock.
        @inlinable
        borrowing func access<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try body(&address.pointee)
        }
    }

    // Accessed only under the lock.
    extension LockedCell: @unchecked Sendable where Value: ~Copyable {}
#endif

#if (canImport(Glibc) || hasFeature(Embedded)) && !NEVOD_THREAD_SANITIZER
    internal import CFutex
    public import Synchronization

    /// A lock of one word: 0 if it is free, 1 if it is held, 2 if it is held and threads wait for it.
    @usableFromInline @frozen
    struct FutexLock: ~Copyable, Sendable {
        @usableFromInline let word = Atomic<UInt32>(0)

        @inlinable
        init() {}

        @inlinable
        borrowing func lock() {
            let (isTaken, _) = word.compareExchange(
                expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
            if !isTaken { wait() }
        }

        @inlinable
        borrowing func unlock() {
            if word.exchange(0, ordering: .releasing) == 2 { wake() }
        }

        @usableFromInline @inline(never)
        borrowing func wait() {
            withWord(nevod_lock_contended)
        }

        @usableFromInline @inline(never)
        borrowing func wake() {
            withWord(nevod_lock_wake)
        }

        /// While it is borrowed, an atomic stays at one address. It has the layout of its value.
        private borrowing func withWord(_ body: (UnsafeMutablePointer<UInt32>?) -> Void) {
            withUnsafePointer(to: word) { word in
                body(UnsafeMutableRawPointer(mutating: word).assumingMemoryBound(to: UInt32.self))
            }
        }
    }
#endif
