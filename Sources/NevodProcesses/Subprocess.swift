internal import CLinux
internal import Glibc
internal import NevodSupport

/// A child process: a program that this process has started, with its pipes.
///
/// The child gets only the descriptors that it is given. Otherwise, one of our connections or pipes would stay open as long as
/// the child runs. The child blocks no signals. Several threads may use a child at once.
package final class Subprocess: Sendable {
    /// The source of one of the child's descriptors.
    package enum Stream: Sendable {
        /// Our descriptor with the same number, one of 0, 1 and 2.
        case inherited
        /// /dev/null.
        case null
        /// A pipe: we write to the child's standard input, or read from its other descriptors.
        case pipe
        /// The child's standard output.
        case standardOutput
        /// A copy of one of our descriptors.
        case copy(Int32)
    }

    /// The child's environment variables.
    package enum Environment: Sendable {
        /// All of ours, byte for byte: they need not be UTF-8.
        case inherited
        /// These entries alone, each as `NAME=VALUE`.
        case only([String])

        /// Our own variables, each as `NAME=VALUE`. At most 100,000 are read, because a plugin may have damaged the list.
        package static var entries: [String] {
            var found: [String] = []
            var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
            while let text = entry.pointee, found.count < 100_000 {
                found.append(String(cString: text))
                entry += 1
            }
            return found
        }
    }

    /// The child's process group.
    package enum Group: Sendable {
        /// Ours. The child may ask at the terminal, and Ctrl-C reaches it.
        case shared
        /// A new one. Its signals have their default actions. A signal to the child goes to the whole group, and the rest of the
        /// group is killed when the child has ended.
        case own
        /// A new one in a new session, which outlives this process and its terminal.
        case session
    }

    /// Reports why a program can't be started. Each case holds errno.
    package enum StartError: Error, Equatable {
        /// A pipe can't be created.
        case pipe(Int32)
        /// The program doesn't exist, isn't executable, or lacks resources.
        case program(Int32)

        /// The system's text.
        package var reason: String {
            switch self {
            case .pipe(let number), .program(let number): String(cString: strerror(number))
            }
        }
    }

    /// The way a child ended.
    package enum Ending: Equatable, Sendable, CustomStringConvertible {
        /// The exit status; -1 if the system has discarded it, because this process was started with SIGCHLD ignored.
        case exit(Int32)
        /// The number of the signal that ended the child.
        case signal(Int32)

        fileprivate init(_ status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
        }

        /// Continues a sentence whose subject is the program.
        package var description: String {
            switch self {
            case .exit(let code): "ended with the exit status \(code)"
            case .signal(let number): "was ended by the signal \(number) (\(String(cString: strsignal(number))))"
            }
        }
    }

    private struct State {
        /// Our ends of the pipes, by the child's descriptors.
        var pipes: [Int32: Int32]
        var ending: Ending?
    }

    /// The process id. Another process may have it once ``ending`` isn't nil.
    package let id: Int32
    private let group: Group
    private let state: Locked<State>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path. Nothing is searched in PATH, and no shell reads the words.
    ///   - words: its arguments, beginning with its name.
    ///   - extra: the child's descriptors from 3 on.
    package init(
        _ program: String, _ words: [String], environment: Environment = .inherited, input: Stream = .inherited,
        output: Stream = .inherited, errors: Stream = .inherited, extra: [Stream] = [], group: Group = .shared
    ) throws(StartError) {
        let streams = [input, output, errors] + extra
        let afterLast = Int32(clamping: streams.count)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        var pipes: [Int32: Int32] = [:]
        var passed: [Int32] = []
        defer {
            for descriptor in passed + pipes.values { close(descriptor) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in zip(Int32(0)..., streams) {
            let source: Int32
            switch stream {
            case .inherited: continue
            case .null:
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
                continue
            case .standardOutput:
                posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, number)
                continue
            case .copy(let descriptor): source = descriptor
            case .pipe:
                var ends: [Int32] = [-1, -1]
                guard nevod_pipe(&ends) == 0 else { throw .pipe(errno) }
                let ours = number == STDIN_FILENO ? ends[1] : ends[0]
                source = number == STDIN_FILENO ? ends[0] : ends[1]
                pipes[number] = ours
                passed.append(source)
                _ = fcntl(ours, F_SETFL, O_NONBLOCK)
            }
            // The copy is above all numbers of the child, so none of them overwrites it.
            let copy = fcntl(source, F_DUPFD_CLOEXEC, afterLast)
            guard copy >= 0 else { throw .program(errno) }
            passed.append(copy)
            posix_spawn_file_actions_adddup2(&actions, copy, number)
        }
        var failure = nevod_spawn_close_from(&actions, afterLast)
        guard failure == 0 else { throw .program(failure) }

        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        if group == .own {
            sigfillset(&defaults)
        } else {
            // Restores the default actions of the signals that we ignore. Others stay as they are: nohup(1) ignores SIGHUP for
            // all that it starts.
            sigemptyset(&defaults)
            for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, signal) }
        }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        let placement: Int32 =
            switch group {
            case .shared: 0
            case .own: POSIX_SPAWN_SETPGROUP
            case .session: nevod_spawn_set_session
            }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | placement))

        var started = pid_t()
        failure = withCStrings(words) { words in
            switch environment {
            case .inherited: posix_spawn(&started, program, &actions, &attributes, words, environ)
            case .only(let entries):
                withCStrings(entries) { posix_spawn(&started, program, &actions, &attributes, words, $0) }
            }
        }
        guard failure == 0 else { throw .program(failure) }
        id = started
        self.group = group
        state = Locked(State(pipes: pipes))
        pipes = [:]
    }

    /// Closes our ends of the pipes. The child may go on. If nothing has waited for it, it becomes a zombie when it ends, and
    /// stays one until this process ends, so only a short-lived program may drop a running child.
    deinit {
        for end in state.withLock(\.pipes).values { close(end) }
    }

    /// Returns our end of the pipe at one of the child's descriptors, until this object is deinitialized. Reads and writes don't
    /// block. Returns -1 if there is no pipe, or after ``closePipe(_:)``.
    package func pipe(_ number: Int32) -> Int32 {
        state.withLock { $0.pipes[number] ?? -1 }
    }

    package func closePipe(_ number: Int32) {
        if let end = state.withLock({ $0.pipes.removeValue(forKey: number) }) { close(end) }
    }

    /// Sends a signal to the child, or to its group if that isn't ours. Does nothing once ``ending`` isn't nil: another process may
    /// have the number by then.
    package func send(_ signal: Int32) {
        state.withLock { if $0.ending == nil { _ = kill(group == .shared ? id : -id, signal) } }
    }

    /// The way the child ended; nil while it runs.
    package var ending: Ending? {
        state.withLock { state in
            guard state.ending == nil else { return state.ending }
            var info = siginfo_t()
            guard waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else {
                state.ending = .exit(-1)
                return state.ending
            }
            guard nevod_signal_sender(&info) != 0 else { return nil }
            // Kills the group before its number can be reused.
            if group == .own { _ = kill(-id, SIGKILL) }
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            state.ending = Ending(status)
            return state.ending
        }
    }

    /// Waits until the child has ended.
    @discardableResult
    package func wait() -> Ending {
        while true {
            if let ending { return ending }
            // Leaves a zombie, which keeps the number: only `ending` frees it, under the lock. A signal may interrupt the wait.
            var info = siginfo_t()
            waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)
        }
    }

    /// Waits until the child has ended; returns nil if it still runs at the deadline.
    package func wait(until deadline: ContinuousClock.Instant) -> Ending? {
        var microseconds: UInt32 = 500
        while true {
            if let ending { return ending }
            guard ContinuousClock.now < deadline else { return nil }
            usleep(microseconds)
            microseconds = min(2 * microseconds, 10_000)
        }
    }

    /// Ends the child by SIGTERM, or by SIGKILL if it still runs after the grace period.
    @discardableResult
    package func stop(grace: Duration = .seconds(1)) -> Ending {
        send(SIGTERM)
        if let ending = wait(until: ContinuousClock.now + grace) { return ending }
        send(SIGKILL)
        return wait()
    }
}

/// Calls `body` with copies of the texts, and a null pointer after the last.
private func withCStrings(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32) -> Int32 {
    let copies: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return body(copies)
}
