internal import Glibc
internal import NevodSupport

/// Locks for the keys of a store that several processes use. Each lock is one byte of a file, far beyond the file's end, which
/// the kernel locks for an open file description. When the process dies, the kernel closes the file and releases the lock.
///
/// The byte's offset is a digest of the key. Two keys with the same digest share a lock.
package struct RenewalLocks: Sendable {
    /// How long to wait for a lock: longer than a renewal over the network takes. A lock that is held for longer belongs to a
    /// suspended process.
    package static let timeout: Duration = .seconds(120)

    let path: String
    private let guardPath: String?

    /// - Parameters:
    ///   - path: The lock file, created with mode 0600 when a lock is first taken.
    ///   - guardPath: An existing file or folder that keeps the holders of the lock apart from others if the lock file is removed
    ///     (``RenewalLock``); by default the folder of the lock file. It isn't used if other users may open it.
    package init(path: String, guardedBy guardPath: String? = nil) {
        self.path = path
        self.guardPath = guardPath ?? path.parentFolder
    }

    /// Waits without blocking a thread of Swift's pool or the store's own thread, which the holder of the lock may need to save.
    ///
    /// - Parameter check: Called under the lock. If it throws, the body is not called.
    package func withLock(
        for key: StorageKey, timeout: Duration = Self.timeout, check: @Sendable () async throws -> Void = {},
        _ body: @Sendable () async -> Void
    ) async throws {
        let deadline = ContinuousClock.now + timeout
        let place = place(of: key)
        do {
            try await Self.mutexes.lock(place, until: deadline)
        } catch is DeadlineExceededError {
            throw isBusy(key, timeout)
        }
        let lock: RenewalLock
        switch await self.lock(place, until: deadline) {
        case .taken(let taken): lock = taken
        case .failed(let error):
            Self.mutexes.unlock(place)
            throw error
        case .abandoned(let error):
            guard error is DeadlineExceededError else { throw error }
            throw isBusy(key, timeout)
        }
        defer {
            // Released explicitly, because there may be other references to the lock.
            lock.release()
            Self.mutexes.unlock(place)
        }
        try await check()
        await body()
    }

    /// A byte of a lock file.
    struct Place: Hashable {
        let path: String
        let offset: Int
    }

    /// Lets only one waiter of this process at a time wait in the kernel, because a thread that is blocked there can't be
    /// interrupted. If its waiter gives up, the thread keeps the mutex, so that later waiters don't each block another thread.
    static let mutexes = KeyedMutex<Place>()

    func place(of key: StorageKey) -> Place {
        // Shifted into the positive range of file offsets.
        Place(path: path, offset: Int(key.digest >> 2))
    }

    private enum Outcome {
        case taken(RenewalLock)
        case failed(any Error)
        /// The waiter gave up; the thread that still waits unlocks the mutex.
        case abandoned(any Error)
    }

    private func lock(_ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome {
        let lock = RenewalLock(place.path, offset: place.offset, guardedBy: guardPath)
        do throws(StorageError) {
            if try lock.take(waiting: false) { return .taken(lock) }
        } catch {
            return .failed(error)
        }
        return await wait(for: lock, place, until: deadline) ?? .taken(lock)
    }

    /// - Returns: nil once the lock is taken.
    private func wait(for lock: RenewalLock, _ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome? {
        let waiter = Waiter<Void>()
        let hasStarted = SystemThread.start {
            let result = Result { _ = try lock.take(waiting: true) }
            guard !waiter.resume(with: result) else { return }
            lock.release()
            Self.mutexes.unlock(place)
        }
        guard hasStarted else {
            return .failed(StorageError.noThread(path, "can't be waited for"))
        }
        do {
            try await waiter.value(until: deadline)
            return nil
        } catch let error as StorageError {
            return .failed(error)
        } catch {
            return .abandoned(error)
        }
    }

    private func isBusy(_ key: StorageKey, _ timeout: Duration) -> StorageError {
        StorageError(
            .busy, path, problem: "another process has been renewing \(key) for \(timeout)",
            remedy: "find it with: fuser '\(path)'")
    }
}

/// One byte of a file, locked for this open file description. The lock excludes other threads of the process too.
///
/// The file may be removed while a process holds a lock in it. Another process must not then create a new file and take the same
/// lock in that. So each holder has a shared lock on a second file or folder, the guard. A process that finds no lock file takes
/// the guard exclusively before it makes one, and so waits until no lock of the removed file is held.
final class RenewalLock: Sendable {
    private let path: String
    private let guardPath: String?
    private let offset: Int
    private let files = Locked(Files())

    private struct Files {
        var locked: Int32?
        var guarding: Int32?
    }

    /// - Parameter guardPath: A file or folder that only this user can open; nil for none.
    init(_ path: String, offset: Int, guardedBy guardPath: String?) {
        self.path = path
        self.offset = offset
        self.guardPath = guardPath
    }

    deinit {
        release()
    }

    /// - Parameter waiting: Whether to block the thread until the lock is taken.
    /// - Returns: false if the lock is held and `waiting` is false.
    func take(waiting: Bool) throws(StorageError) -> Bool {
        while true {
            guard try openFile(waiting), try lockByte(waiting) else {
                release()
                return false
            }
            if isCurrent { return true }
            release()
        }
    }

    /// False if the file was removed meanwhile: the next process would create and lock another one.
    private var isCurrent: Bool {
        guard let file = files.withLock(\.locked) else { return false }
        return FileIdentity(file)?.isSame(as: FileIdentity(at: path)) ?? false
    }

    // MARK: The file

    /// - Returns: false if another process has to finish first.
    private func openFile(_ waiting: Bool) throws(StorageError) -> Bool {
        let guarding = try openGuard()
        files.withLock { $0.guarding = guarding }
        guard try lockGuard(LOCK_SH, waiting) else { return false }
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        var file = open(path, flags)
        if file < 0, errno == ENOENT {
            // Gives up the shared lock first. Every process does so at this point, so that no two of them wait for each other.
            guard try lockGuard(LOCK_EX, waiting) else { return false }
            file = open(path, flags | O_CREAT, 0o600)
            let number = errno
            guard try lockGuard(LOCK_SH, true) else { return false }
            errno = number
        }
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        files.withLock { $0.locked = file }
        return true
    }

    /// - Returns: nil if there is no guard, or if other users could hold it forever.
    private func openGuard() throws(StorageError) -> Int32? {
        guard let guardPath else { return nil }
        let file = open(guardPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            close(file)
            return nil
        }
        return file
    }

    private func lockGuard(_ kind: Int32, _ waiting: Bool) throws(StorageError) -> Bool {
        guard let guarding = files.withLock(\.guarding) else { return true }
        while flock(guarding, waiting ? kind : kind | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw StorageError(guardPath ?? path, "can't be locked", errno: errno) }
            return false
        }
        return true
    }

    // MARK: The byte

    private func lockByte(_ waiting: Bool) throws(StorageError) -> Bool {
        while !set(waiting ? Self.setLockWaiting : Self.setLock) {
            if waiting, errno == EINTR { continue }
            guard !waiting, errno == EAGAIN || errno == EACCES else {
                throw StorageError(path, "can't be locked", errno: errno)
            }
            return false
        }
        return true
    }

    private func set(_ command: Int32) -> Bool {
        guard let file = files.withLock(\.locked) else { return false }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        return fcntl(file, command, &lock) == 0
    }

    func release() {
        files.withLock { files in
            for file in [files.locked, files.guarding] {
                if let file { close(file) }
            }
            files = Files()
        }
    }

    // F_OFD_SETLK and F_OFD_SETLKW, which <fcntl.h> defines for GNU sources only. They lock for an open file description, not for
    // the process.
    private static let setLock: Int32 = 37
    private static let setLockWaiting: Int32 = 38
}
