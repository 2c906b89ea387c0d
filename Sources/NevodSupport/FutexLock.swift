#if (canImport(Glibc) || hasFeature(Embedded)) && !NEVOD_THREAD_SANITIZER
    internal import CFutex
    public import Synchronization

    /// A lock of one word: 0 if it is free, 1 if it is held, 2 if threads wait for it.
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

        /// An atomic has one address as long as it is borrowed, and the layout of its value.
        private borrowing func withWord(_ body: (UnsafeMutablePointer<UInt32>?) -> Void) {
            withUnsafePointer(to: word) { word in
                body(UnsafeMutableRawPointer(mutating: word).assumingMemoryBound(to: UInt32.self))
            }
        }
    }
#endif
