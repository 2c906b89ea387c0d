internal import Glibc
internal import NevodSupport

/// Locks for the keys of a store that several processes use: each is one byte of a file, far behind its end, that the kernel
/// locks for an open file. When the process dies, the file is closed, and the lock is gone.
///
/// Which byte is a digest of the key. Two keys may share one; they then take turns.
package struct RenewalLocks: Sendable {
    /// Longer than a renewal over the network takes. Who waits longer than this waits for a process that was stopped.
    package static let patience: Duration = .seconds(120)

    let path: String

    /// - Parameter path: of a file that is made, with mode 0600, when a lock is first taken.
    package init(path: String) {
        self.path = path
    }

    /// Waits without holding a thread of Swift's pool, or the store's own: who holds the lock may need that to save.
    package func withLock(
        for key: StorageKey, patience: Duration = Self.patience, _ body: @Sendable () async -> Void
    ) async throws {
        let deadline = ContinuousClock.now + patience
        let place = place(of: key)
        do {
            try await Self.turns.lock(place, until: deadline)
        } catch is DeadlineExceededError {
            throw isBusy(key, patience)
        }
        let lock: RenewalLock
        switch await self.lock(place, until: deadline) {
        case .taken(let taken): lock = taken
        case .failed(let error):
            Self.turns.unlock(place)
            throw error
        case .left(let error):
            guard error is DeadlineExceededError else { throw error }
            throw isBusy(key, patience)
        }
        defer {
            // Not left to the last reference.
            lock.release()
            Self.turns.unlock(place)
        }
        await body()
    }

    struct Place: Hashable {
        let path: String
        let offset: Int
    }

    /// Of this process, one at a time asks the kernel. A thread that the kernel has not answered can't be called back: if its waiter
    /// gives up, it keeps the turn, so that the next doesn't leave another behind.
    static let turns = KeyedMutex<Place>()

    func place(of key: StorageKey) -> Place {
        // In the positive range of file offsets.
        Place(path: path, offset: Int(key.digest >> 2))
    }

    private enum Outcome {
        case taken(RenewalLock)
        case failed(any Error)
        /// The wait is over; the thread that waits gives the turn back.
        case left(any Error)
    }

    private func lock(_ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome {
        while true {
            let lock: RenewalLock
            do throws(StorageError) {
                lock = try RenewalLock(place.path, offset: place.offset)
                if try lock.take() {
                    if lock.isCurrent { return .taken(lock) }
                    continue
                }
            } catch {
                return .failed(error)
            }
            if let end = await wait(for: lock, place, until: deadline) { return end }
            if lock.isCurrent { return .taken(lock) }
        }
    }

    /// - Returns: nil: it is taken.
    private func wait(for lock: RenewalLock, _ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome? {
        let waiter = Waiter<Void>()
        let hasStarted = SystemThread.start {
            let result = Result { try lock.takeWaiting() }
            guard !waiter.resume(with: result) else { return }
            lock.release()
            Self.turns.unlock(place)
        }
        guard hasStarted else {
            return .failed(StorageError(.unavailable, path, problem: "can't be waited for: the system has no thread left"))
        }
        do {
            try await waiter.value(until: deadline)
            return nil
        } catch let error as StorageError {
            return .failed(error)
        } catch {
            return .left(error)
        }
    }

    private func isBusy(_ key: StorageKey, _ patience: Duration) -> StorageError {
        StorageError(
            .busy, path, problem: "another process has been renewing \(key) for \(patience)",
            remedy: "find it with: fuser '\(path)'")
    }
}

/// One byte of a file, locked for this description of it: other threads of the process are others too.
private final class RenewalLock: Sendable {
    private let path: String
    private let offset: Int
    private let descriptor: Locked<Int32?>

    init(_ path: String, offset: Int) throws(StorageError) {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        self.path = path
        self.offset = offset
        descriptor = Locked(file)
    }

    deinit {
        release()
    }

    /// - Returns: false if somebody else has it.
    func take() throws(StorageError) -> Bool {
        if set(Self.setLock) { return true }
        guard errno == EAGAIN || errno == EACCES else { throw StorageError(path, "can't be locked", errno: errno) }
        return false
    }

    /// Blocks the thread.
    func takeWaiting() throws(StorageError) {
        while !set(Self.setLockWaiting) {
            guard errno == EINTR else { throw StorageError(path, "can't be locked", errno: errno) }
        }
    }

    /// False if somebody removed the file meanwhile: the next to come would make, and lock, another.
    var isCurrent: Bool {
        guard let file = descriptor.withLock(\.self) else { return false }
        var (own, named) = (stat(), stat())
        return fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    private func set(_ command: Int32) -> Bool {
        guard let file = descriptor.withLock(\.self) else { return false }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        return fcntl(file, command, &lock) == 0
    }

    func release() {
        descriptor.withLock { file in
            if let file { close(file) }
            file = nil
        }
    }

    // Of <fcntl.h>, which has them for GNU sources only: locks of an open file description, not of the process.
    private static let setLock: Int32 = 37
    private static let setLockWaiting: Int32 = 38
}
