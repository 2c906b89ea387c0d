#if (canImport(Glibc) || hasFeature(Embedded)) && !NEVOD_ADDRESS_SANITIZER
    #if hasFeature(Embedded)
        internal import CEmbeddedRuntime

        private var mapFailed: UnsafeMutableRawPointer? { nevod_map_failed() }
    #else
        internal import Glibc

        private var mapFailed: UnsafeMutableRawPointer? { MAP_FAILED }
    #endif
    internal import Synchronization

    /// Memory for secrets. It is excluded from core dumps, and from swap if the process may lock enough memory (`ulimit -l`).
    /// Pages are allocated in chunks, cut into blocks of one size, and never returned to the system. Free blocks are wiped.
    ///
    /// Threads take and free blocks without a lock: a chunk has a bit for each of its blocks.
    enum SecretMemory {
        /// The chunk of a block; nil for a secret that has pages of its own.
        struct Owner: @unchecked Sendable {  // A chunk is never freed, and only its atomic bits change.
            fileprivate let chunk: UnsafePointer<SecretChunk>?
        }

        /// The sizes of blocks, as their binary logarithms: 32, 128, 512, 2,048 and 8,192 bytes. A longer secret gets pages of
        /// its own.
        private static let sizes = [5, 7, 9, 11, 13]

        // Never freed.
        private nonisolated(unsafe) static let chunks: UnsafeMutablePointer<SecretChunks> = {
            let chunks = UnsafeMutablePointer<SecretChunks>.allocate(capacity: sizes.count)
            for (kind, size) in sizes.enumerated() { (chunks + kind).initialize(to: SecretChunks(blockSizeLog: size)) }
            return chunks
        }()

        static func allocate(_ count: Int) -> (UnsafeMutableRawBufferPointer, Owner) {
            guard let kind = sizes.firstIndex(where: { 1 << $0 >= count }) else {
                return (UnsafeMutableRawBufferPointer(start: pages(rounded(count)), count: count), Owner(chunk: nil))
            }
            let (block, chunk) = chunks[kind].take()
            return (UnsafeMutableRawBufferPointer(start: block, count: count), Owner(chunk: chunk))
        }

        /// - Parameter memory: must have been wiped.
        static func deallocate(_ memory: UnsafeMutableRawBufferPointer, _ owner: Owner) {
            guard let start = memory.baseAddress else { return }
            guard let chunk = owner.chunk else {
                munmap(start, rounded(memory.count))
                return
            }
            chunk.pointee.free(start)
            chunk.pointee.chunks.pointee.hint(chunk)
        }

        private static func rounded(_ count: Int) -> Int {
            let page = Int(sysconf(Int32(_SC_PAGESIZE)))
            return (count + page - 1) / page * page
        }

        fileprivate static func pages(_ count: Int) -> UnsafeMutableRawPointer {
            guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != mapFailed
            else { fatalError("no memory for secrets") }
            // Both calls are best effort: if they fail, the memory is still wiped.
            madvise(start, count, MADV_DONTDUMP)
            mlock(start, count)
            return start
        }
    }

    /// All chunks with blocks of one size.
    private struct SecretChunks: ~Copyable {
        private let blockSizeLog: Int
        /// The first chunk of a list that grows only at its front.
        private let newest = Atomic<UnsafePointer<SecretChunk>?>(nil)
        /// For each group of threads, a chunk that had a free block.
        private let hints: UnsafeMutablePointer<Atomic<UnsafePointer<SecretChunk>?>>
        private let growing = Locked(())

        private static let groups = 8

        init(blockSizeLog: Int) {
            self.blockSizeLog = blockSizeLog
            hints = .allocate(capacity: Self.groups)
            for group in 0..<Self.groups { (hints + group).initialize(to: Atomic(nil)) }
        }

        borrowing func take() -> (UnsafeMutableRawPointer, UnsafePointer<SecretChunk>) {
            let group = Self.group
            while true {
                // The hint is loaded first. Its chunk can then be reached from the newest one, so the search returns to it and
                // ends.
                let hint = hints[group].load(ordering: .acquiring)
                let last = newest.load(ordering: .acquiring)
                let start = hint ?? last
                var next = start
                while let chunk = next {
                    if let block = chunk.pointee.take(from: group) {
                        if chunk != start { hints[group].store(chunk, ordering: .releasing) }
                        return (block, chunk)
                    }
                    next = chunk.pointee.older ?? last
                    if next == start { break }
                }
                grow(after: last)
            }
        }

        borrowing func hint(_ chunk: UnsafePointer<SecretChunk>) {
            let hint = Self.group
            // Usually unchanged, and a write would take the cache line from other processors.
            if hints[hint].load(ordering: .relaxed) != chunk { hints[hint].store(chunk, ordering: .releasing) }
        }

        /// Adds a chunk, unless another thread has added one.
        private borrowing func grow(after last: UnsafePointer<SecretChunk>?) {
            let group = Self.group
            withUnsafePointer(to: self) { chunks in
                growing.withLock { _ in
                    guard newest.load(ordering: .acquiring) == last else { return }
                    let chunk = UnsafeMutablePointer<SecretChunk>.allocate(capacity: 1)
                    chunk.initialize(to: SecretChunk(of: chunks, blockSizeLog: blockSizeLog, older: last))
                    newest.store(UnsafePointer(chunk), ordering: .releasing)
                }
            }
            hints[group].store(newest.load(ordering: .acquiring), ordering: .releasing)
        }

        /// Threads of different groups mostly begin their search at different blocks.
        private static var group: Int { Int((UInt64(pthread_self()) >> 12 &* 0x9E37_79B9_7F4A_7C15) >> 61) }
    }

    /// Pages cut into blocks of one size. Never freed.
    private struct SecretChunk: ~Copyable {
        let chunks: UnsafePointer<SecretChunks>
        let older: UnsafePointer<SecretChunk>?
        private let start: UnsafeMutableRawPointer
        private let blockSizeLog: Int
        /// A bit for each block, set if it is free.
        private let bits: UnsafeMutablePointer<Atomic<UInt64>>
        private let words: Int

        /// Small: many containers let a process lock only 64 KiB, which must hold a chunk for each size that keys and tokens
        /// have.
        private static let size = 16 << 10

        init(of chunks: UnsafePointer<SecretChunks>, blockSizeLog: Int, older: UnsafePointer<SecretChunk>?) {
            self.chunks = chunks
            self.older = older
            self.blockSizeLog = blockSizeLog
            start = SecretMemory.pages(Self.size)
            let blocks = Self.size >> blockSizeLog
            words = (blocks + 63) / 64
            bits = .allocate(capacity: words)
            for word in 0..<words {
                (bits + word).initialize(to: Atomic(blocks >= 64 ? UInt64.max : (1 << UInt64(blocks)) - 1))
            }
        }

        /// - Parameter group: the number of the word at which the search begins.
        /// - Returns: nil if no block is free.
        borrowing func take(from group: Int) -> UnsafeMutableRawPointer? {
            for offset in 0..<words {
                let word = (group + offset) % words
                var free = bits[word].load(ordering: .relaxed)
                while free != 0 {
                    let bit = UInt64(1) << UInt64(free.trailingZeroBitCount)
                    let seen = bits[word].bitwiseAnd(~bit, ordering: .acquiring).oldValue
                    if seen & bit != 0 { return start + ((word * 64 + bit.trailingZeroBitCount) << blockSizeLog) }
                    free = seen & ~bit
                }
            }
            return nil
        }

        borrowing func free(_ block: UnsafeMutableRawPointer) {
            let index = (block - start) >> blockSizeLog
            bits[index / 64].bitwiseOr(1 << UInt64(index % 64), ordering: .releasing)
        }
    }
#else
    /// Ordinary heap memory, which the sanitizer watches.
    enum SecretMemory {
        struct Owner: Sendable {}

        static func allocate(_ count: Int) -> (UnsafeMutableRawBufferPointer, Owner) {
            (.allocate(byteCount: count, alignment: 1), Owner())
        }

        static func deallocate(_ memory: UnsafeMutableRawBufferPointer, _ owner: Owner) { memory.deallocate() }
    }
#endif
