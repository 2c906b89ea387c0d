#if canImport(Glibc) && !NEVOD_ADDRESS_SANITIZER
    internal import Glibc

    /// Memory for secrets, excluded from core dumps, and from swap as far as the process may lock memory (`ulimit -l`). Pages are
    /// allocated in chunks, each cut into blocks of one size, and never returned to the system. Free blocks are wiped.
    enum SecretMemory {
        /// Small, so that the 64 KiB that many containers let a process lock hold a chunk for each size that keys and tokens have.
        private static let chunkSize = 16 << 10
        /// The sizes of blocks. A longer secret gets pages of its own.
        private static let sizes = [32, 128, 512, 2048, 8192]

        /// The free blocks, each of which begins with the address of the next.
        private struct FreeList: @unchecked Sendable {  // Accessed only under the lock.
            var first: UnsafeMutableRawPointer?
        }
        private static let free = Locked([FreeList](repeating: FreeList(), count: sizes.count))

        static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
            guard let kind = sizes.firstIndex(where: { $0 >= count }) else {
                return UnsafeMutableRawBufferPointer(start: pages(rounded(count)), count: count)
            }
            let address = free.withLock { free -> UInt in
                if free[kind].first == nil { cut(pages(chunkSize), into: &free[kind], size: sizes[kind]) }
                let block = free[kind].first
                free[kind].first = block?.load(as: UnsafeMutableRawPointer?.self)
                return UInt(bitPattern: block)
            }
            return UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
        }

        /// - Parameter memory: must have been wiped.
        static func deallocate(_ memory: UnsafeMutableRawBufferPointer) {
            guard let start = memory.baseAddress else { return }
            guard let kind = sizes.firstIndex(where: { $0 >= memory.count }) else {
                munmap(start, rounded(memory.count))
                return
            }
            let address = UInt(bitPattern: start)
            free.withLock { free in
                let block = UnsafeMutableRawPointer(bitPattern: address)
                block?.storeBytes(of: free[kind].first, as: UnsafeMutableRawPointer?.self)
                free[kind].first = block
            }
        }

        private static func rounded(_ count: Int) -> Int {
            let page = Int(sysconf(Int32(_SC_PAGESIZE)))
            return (count + page - 1) / page * page
        }

        private static func pages(_ count: Int) -> UnsafeMutableRawPointer {
            guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED
            else { fatalError("no memory for secrets") }
            // Both are best effort: if they fail, the memory is still wiped.
            madvise(start, count, MADV_DONTDUMP)
            mlock(start, count)
            return start
        }

        private static func cut(_ chunk: UnsafeMutableRawPointer, into list: inout FreeList, size: Int) {
            for offset in stride(from: chunkSize - size, through: 0, by: -size) {
                let block = chunk + offset
                block.storeBytes(of: list.first, as: UnsafeMutableRawPointer?.self)
                list.first = block
            }
        }
    }
#else
    /// Ordinary heap memory, which the sanitizer watches.
    enum SecretMemory {
        static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer { .allocate(byteCount: count, alignment: 1) }
        static func deallocate(_ memory: UnsafeMutableRawBufferPointer) { memory.deallocate() }
    }
#endif
