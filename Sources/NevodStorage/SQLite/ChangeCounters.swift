internal import CLinux
internal import Glibc

/// Counts the changes of a store in memory that all processes share which use it, so that who remembers a value knows without a
/// system call whether it has changed.
///
/// A count is odd while a change is being made. If who makes it dies meanwhile, it stays odd, and nobody relies on what they
/// remember until the next change. Keys share counts.
///
/// The file also says whether there has been a store beside it: one that has become empty isn't taken for a new one.
final class ChangeCounters: Sendable {
    private static let count = 1024
    private static let size = (count + 1) * MemoryLayout<UInt64>.size

    // Mapped for as long as this lives; read and written by atomic operations only.
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<UInt64>

    init(_ path: String) throws(StorageError) {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        defer { close(file) }
        let size = Self.size
        // Space that isn't there would end the process when it is written to.
        let failure = posix_fallocate(file, 0, size)
        guard failure == 0 else { throw StorageError(path, "can't be made", errno: failure) }
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED else {
            throw StorageError(path, "can't be mapped", errno: errno)
        }
        counts = memory.bindMemory(to: UInt64.self, capacity: Self.count + 1)
    }

    deinit {
        munmap(counts, Self.size)
    }

    /// Whether a store has been made.
    var isOfStore: Bool { nevod_load(counts + Self.count) != 0 }

    func rememberStore() {
        nevod_store(counts + Self.count, 1)
    }

    private func place(of key: StorageKey) -> UnsafeMutablePointer<UInt64> {
        counts + Int(key.digest % UInt64(Self.count))
    }

    /// Nil while it is being changed, or may have been.
    func count(of key: StorageKey) -> UInt64? {
        let count = nevod_load(place(of: key))
        return count.isMultiple(of: 2) ? count : nil
    }

    /// Call before a change is made, in the order in which they are made.
    func begin(_ key: StorageKey) -> UInt64 {
        let place = place(of: key)
        let count = (nevod_load(place) | 1) &+ 2
        nevod_store(place, count)
        return count
    }

    /// Call after it was made, or has failed. If another has begun meanwhile, that one's end counts.
    func end(_ key: StorageKey, _ count: UInt64) {
        _ = nevod_replace(place(of: key), count, count &+ 1)
    }
}

extension StorageKey {
    /// FNV-1a of its UTF-8: the same in every process.
    package var digest: UInt64 {
        rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
