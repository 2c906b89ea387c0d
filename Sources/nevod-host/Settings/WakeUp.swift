import Glibc

/// Ends a thread's wait for a descriptor from another one.
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

    /// Until there is something to read, or an end of it.
    ///
    /// - Returns: false if it was woken up; that goes first.
    func waits(for descriptor: Int32) -> Bool {
        var waited = [
            pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waited, 2, -1) < 0, errno == EINTR {}
        return waited[0].revents == 0
    }
}

/// Runs what blocks on a thread of its own: those of the pool, and the session's, have other work.
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
            return continuation.resume(throwing: InputError("on a thread of its own", failure))
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
