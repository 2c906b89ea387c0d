internal import CLinux
internal import Glibc

/// A process of this program that runs one job: its pipes, its page, and how it ended. It leads a process group of its own, which is
/// killed with it.
final class ChildProcess {
    /// The hidden word of the command line.
    static let word = "__check"
    /// The descriptors that a child finds.
    static let replyDescriptor: Int32 = 3
    static let jobDescriptor: Int32 = 4

    enum Ending {
        case exited(Int32)
        case signalled(Int32)
    }

    struct SpawnError: Error {
        let description: String
    }

    /// Pipes' ends for reading; -1 once they are closed.
    private(set) var replyPipe: Int32 = -1
    private(set) var outputPipe: Int32 = -1
    private(set) var reply: [UInt8] = []
    /// The last bytes of standard output and standard error.
    private(set) var output: [UInt8] = []
    let page: CallPage
    let started = nevod_monotonic_nanoseconds()
    private let process: pid_t
    private static let longestOutput = 4096

    init(_ job: CheckJob, arguments: [String] = [ChildProcess.word]) throws(SpawnError) {
        let file = nevod_memory_file("job")
        guard file >= 0 else { throw Self.problem("no file in memory") }
        defer { close(file) }
        let text = job.encoded
        guard ftruncate(file, off_t(CallPage.size)) == 0,
            text.withUnsafeBytes({ pwrite(file, $0.baseAddress, $0.count, off_t(CallPage.size)) }) == text.count,
            let page = CallPage(file: file)
        else { throw Self.problem("no room for a job") }
        self.page = page
        var replies: [Int32] = [-1, -1]
        var outputs: [Int32] = [-1, -1]
        guard nevod_pipe(&replies) == 0 else {
            page.unmap()
            throw Self.problem("no pipe")
        }
        guard nevod_pipe(&outputs) == 0 else {
            for end in replies { close(end) }
            page.unmap()
            throw Self.problem("no pipe")
        }
        let started = Self.spawn(arguments, file: file, reply: replies[1], output: outputs[1])
        for end in [replies[1], outputs[1]] { close(end) }
        guard let started else {
            for end in [replies[0], outputs[0]] { close(end) }
            page.unmap()
            throw Self.problem("a process can't be started")
        }
        process = started
        replyPipe = replies[0]
        outputPipe = outputs[0]
    }

    deinit {
        for pipe in [replyPipe, outputPipe] where pipe >= 0 { close(pipe) }
        page.unmap()
    }

    private static func problem(_ what: String) -> SpawnError {
        SpawnError(description: "\(what): \(String(cString: strerror(errno)))")
    }

    /// Returns nil with `errno` if the process can't be started. The descriptors are at 10 or higher, so that no duplicate hits another.
    private static func spawn(_ arguments: [String], file: Int32, reply: Int32, output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, reply, replyDescriptor)
        posix_spawn_file_actions_adddup2(&actions, file, jobDescriptor)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = (["nevod-host"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        errno = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &words, environ)
        return errno == 0 ? process : nil
    }

    /// Reads what has arrived in the pipes, without waiting.
    func readPipes() {
        if replyPipe >= 0 { drain(&replyPipe) { reply.append(contentsOf: $0.prefix(max(0, ChildReply.longest - reply.count))) } }
        if outputPipe >= 0 {
            drain(&outputPipe) { piece in
                output.append(contentsOf: piece)
                if output.count > 2 * Self.longestOutput { output.removeFirst(output.count - Self.longestOutput) }
            }
        }
    }

    private func drain(_ pipe: inout Int32, _ take: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            // Bounded, so that a plugin that writes without end can't keep the parent from its other children.
            for _ in 0..<64 {
                let count = read(pipe, buffer.baseAddress, buffer.count)
                if count > 0 {
                    take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    continue
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                close(pipe)
                pipe = -1
                return
            }
        }
    }

    /// Kills it with its group.
    func kill() { _ = Glibc.kill(-process, SIGKILL) }

    /// Returns how it ended, and ends what is left of its group; nil while it runs.
    func reap() -> Ending? {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return .exited(-1) }
        guard nevod_signal_sender(&info) != 0 else { return nil }
        // Before its number is free for another process.
        kill()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        readPipes()
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
