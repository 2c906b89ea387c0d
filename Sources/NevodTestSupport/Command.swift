package import Glibc

/// A program that a test runs: a compiler, a server, or Python as a second opinion.
package enum Command {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Runs a program to its end and returns its standard output.
    package static func output(_ arguments: [String]) throws -> String {
        let (pid, pipe) = try spawn(arguments)
        defer { close(pipe) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(pipe, &buffer, buffer.count), count > 0 { output += buffer[..<count] }
        guard wait(for: pid) == 0 else {
            throw Failure(description: "\(arguments[0]) failed: \(String(decoding: output, as: UTF8.self))")
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the lines that a Python script prints; its arguments are in `sys.argv[1:]`.
    package static func python(_ script: String, _ arguments: [String] = []) throws -> [String] {
        try output(["python3", "-c", script] + arguments).split(separator: "\n").map(String.init)
    }

    /// Starts a program; its standard output can be read from `pipe`.
    package static func spawn(_ arguments: [String], environment: [String]? = nil, quiet: Bool = false) throws -> (
        pid: pid_t, pipe: Int32
    ) {
        var ends: [Int32] = [-1, -1]
        Descriptors.make { [pipe(&ends), ends[0], ends[1]] }
        guard ends[0] >= 0 else { throw Failure(description: "no pipe") }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if quiet { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        // Foundation notices that a program has ended when a socket is closed. A server of another test that had inherited it would
        // keep the program a zombie, and the runner, which then sees no other child's end, would wait for its own processes for ever.
        guard Descriptors.closeFrom(3, in: &actions) else { throw Failure(description: "glibc is older than 2.34") }
        // A thread of Swift's pool blocks all signals, and a child would inherit that: no signal could end it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = (environment ?? inheritedEnvironment()).map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let failure = Descriptors.spawn { posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp) }
        guard failure == 0 else {
            close(ends[0])
            throw Failure(description: "\(arguments[0]): \(String(cString: strerror(failure)))")
        }
        return (pid, ends[0])
    }

    /// A sanitizer that the test runner preloaded is not the compiler's.
    private static func inheritedEnvironment() -> [String] {
        ["PATH", "HOME", "TMPDIR"].compactMap { (name: String) -> String? in getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    /// Whether a program ends in this time. If so, its status is collected.
    package static func hasEnded(_ pid: pid_t, within time: Duration) -> Bool {
        let deadline = ContinuousClock.now + time
        var status: Int32 = 0
        repeat {
            let ended = waitpid(pid, &status, WNOHANG)
            if ended == pid || ended < 0 && errno != EINTR { return true }
            usleep(1000)
        } while ContinuousClock.now < deadline
        return false
    }

    @discardableResult
    package static func wait(for pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
