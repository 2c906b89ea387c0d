internal import CLinux
internal import Glibc

/// Counts the changes of a store in memory shared by all processes that use it, so that a process can tell without a system call
/// whether a cached value is current.
///
/// A count is odd while a change is under way. If the writing process dies meanwhile, it stays odd, and no process uses its cached
/// values until the next change. Several keys may share a count.
///
/// The file also records that a store existed beside it, so that a store that has become empty isn't taken for a new one.
final class ChangeCounters: Sendable {
    private static let count = 1024
    private static let size = (count + 1) * MemoryLayout<UInt64>.size

    // Mapped until deinit; accessed by atomic operations only.
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<UInt64>

    init(_ path: String) throws(StorageError) {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        defer { close(file) }
        let size = Self.size
        // Writing to mapped space that is missing on the device would kill the process (SIGBUS).
        let failure = posix_fallocate(file, 0, size)
        guard failure == 0 else { throw StorageError(path, "can't be created", errno: failure) }
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED else {
            throw StorageError(path, "can't be mapped", errno: errno)
        }
        counts = memory.bindMemory(to: UInt64.self, capacity: Self.count + 1)
    }

    deinit {
        munmap(counts, Self.size)
    }

    /// Whether a store has been created beside this file.
    var isOfStore: Bool { nevod_load(counts + Self.count) != 0 }

    func rememberStore() {
        nevod_store(counts + Self.count, 1)
    }

    private func place(of key: StorageKey) -> UnsafeMutablePointer<UInt64> {
        counts + Int(key.digest % UInt64(Self.count))
    }

    /// - Returns: nil while a change is under way or was interrupted.
    func count(of key: StorageKey) -> UInt64? {
        let count = nevod_load(place(of: key))
        return count.isMultiple(of: 2) ? count : nil
    }

    /// Called before each change, in the order of the changes.
    func begin(_ key: StorageKey) -> UInt64 {
        let place = place(of: key)
        let count = (nevod_load(place) | 1) &+ 2
        nevod_store(place, count)
        return count
    }

    /// Called after the change has been made or has failed. No effect if another change has begun meanwhile, which then ends it.
    func end(_ key: StorageKey, _ count: UInt64) {
        _ = nevod_replace(place(of: key), count, count &+ 1)
    }
}

extension StorageKey {
    /// FNV-1a of the UTF-8, which is the same in every process.
    package var digest: UInt64 {
        rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
