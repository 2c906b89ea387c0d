import Glibc
import NevodSupport

/// Lets a thread end another thread's wait for a descriptor.
final class WakeUp: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() throws(InputError) {
        var made: [Int32] = [-1, -1]
        guard pipe(&made) == 0 else { throw InputError("the terminal", errno) }
        for end in made { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        ends = (made[0], made[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = write(ends.write, &byte, 1)
    }

    /// Waits until `wake` is called.
    func wait() {
        var waited = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        while poll(&waited, 1, -1) < 0, errno == EINTR {}
    }

    /// Waits until the descriptor is readable or at its end.
    ///
    /// - Returns: false if `wake` was called, even if the descriptor is readable.
    func waitUntilReadable(_ descriptor: Int32) -> Bool {
        var waited = [
            pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waited, 2, -1) < 0, errno == EINTR {}
        return waited[0].revents == 0
    }
}

/// Runs blocking work on a separate thread, so that neither the thread pool nor the session's thread waits.
func onThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        let work = Unmanaged.passRetained(ThreadWork { continuation.resume(with: Result(catching: body)) })
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            return continuation.resume(throwing: InputError("on a new thread", failure))
        }
        pthread_detach(thread)
    }
}

private final class ThreadWork: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// Runs asynchronous work on the thread pool, and blocks this thread until it has finished. The work must not need this thread.
func waiting<Success: Sendable>(for work: @escaping @Sendable () async throws -> Success) throws -> Success {
    let outcome = Locked<Result<Success, any Error>?>(nil)
    let finished = try WakeUp()
    Task.detached {
        let result: Result<Success, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        finished.wake()
    }
    finished.wait()
    guard let result = outcome.withLock(\.self) else { throw CancellationError() }
    return try result.get()
}
