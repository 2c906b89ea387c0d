import CLinux
import Glibc
import NevodHost
import NevodPluginTesting
import NevodSupport

/// Replaces the secrets of a recording in a process of its own, since the plugin runs there once more, with placeholders.
enum PlaceholderRun {
    /// Reports a recording that would contain secrets, or would not show what happened.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        fileprivate init(description: String) { self.description = description }

        /// - Parameter problem: the reason why secrets can't be replaced.
        fileprivate init(withoutPlaceholders problem: String) {
            description =
                "\(TerminalText.safe(problem)); --keep-secrets records without placeholders, best with an account for tests"
        }
    }

    /// Not a command for people: the program starts itself with it.
    private static let word = "replay-with-placeholders"
    /// A plugin that hangs with placeholders must not hold up the command.
    private static let patience: Int64 = 60_000_000_000

    // MARK: The child

    static func isMeant(by words: [[UInt8]]) -> Bool { words.count == 2 && words[0].elementsEqual(word.utf8) }

    /// Reads a recording from standard input, and writes it with placeholders to standard output; or else the reason why not, to
    /// standard error.
    static func run(_ words: [[UInt8]]) -> Int32 {
        do {
            // The plugin's own output must not be mixed with the recording.
            let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
            guard output >= 0, dup2(2, 1) == 1 else {
                throw Failure(description: "no descriptor: \(String(cString: strerror(errno)))")
            }
            let bytes = try FileDescriptor.standardInput.readAll(limit: Recording.largest)
            let recording = try Recording(parsing: bytes)
            let redacted = try RecordingRedactor(LoadedTable(path: String(decoding: words[1], as: UTF8.self)).table).redacted(
                recording)
            try FileDescriptor(number: output, name: "a pipe").write(redacted.encoded.span)
            return ExitCode.success
        } catch {
            Console.write("\(error)")
            return ExitCode.other
        }
    }

    // MARK: The parent

    /// Returns the bytes of the file.
    static func redacted(_ recording: Recording, _ plugin: String) throws -> [UInt8] {
        var child = try Child(plugin)
        let (output, problem) = try child.exchange(recording.encoded)
        guard problem.isEmpty else { throw Failure(withoutPlaceholders: problem) }
        // A plugin can write to every descriptor of its process.
        guard (try? Recording(parsing: output))?.calls.count == recording.calls.count else {
            throw Failure(withoutPlaceholders: "the copy with placeholders is damaged: the plugin wrote into it")
        }
        return output
    }

    private struct Child {
        private let pid: pid_t
        private var input: Int32
        private let output: Int32
        private let errors: Int32

        init(_ plugin: String) throws(Failure) {
            var pipes: [Int32] = []
            for _ in 0..<3 {
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else {
                    throw Failure(description: "no pipe: \(String(cString: strerror(errno)))")
                }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                pipes += ends
            }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, pipes[0], 0)
            posix_spawn_file_actions_adddup2(&actions, pipes[3], 1)
            posix_spawn_file_actions_adddup2(&actions, pipes[5], 2)
            // The command blocks signals, which the child would inherit.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
            let texts: [String] = ["nevod-host", PlaceholderRun.word, plugin]
            let words = texts.map { text in strdup(text) }
            defer { for word in words { free(word) } }
            var started = pid_t()
            let problem = posix_spawn(
                &started, "/proc/self/exe", &actions, &attributes, words + [UnsafeMutablePointer<CChar>?.none], environ)
            for end in [pipes[0], pipes[3], pipes[5]] { close(end) }
            (input, output, errors) = (pipes[1], pipes[2], pipes[4])
            pid = started
            guard problem == 0 else {
                throw Failure(description: "the program can't start itself: \(String(cString: strerror(problem)))")
            }
            _ = fcntl(input, F_SETFL, O_NONBLOCK)
        }

        /// Writes the input, and reads both outputs, within the time limit.
        mutating func exchange(_ bytes: [UInt8]) throws -> (output: [UInt8], problem: String) {
            var collected: [[UInt8]] = [[], []]
            var isOpen = [true, true]
            var sent = 0
            let end = Self.now + PlaceholderRun.patience
            while isOpen.contains(true), Self.now < end {
                var polled = [
                    pollfd(fd: isOpen[0] ? output : -1, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: isOpen[1] ? errors : -1, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
                ]
                guard poll(&polled, 3, 1000) >= 0 || errno == EINTR else { break }
                for index in 0..<2 where polled[index].revents != 0 {
                    let piece = try FileDescriptor(number: polled[index].fd, name: "a pipe").readSome(upTo: 64 << 10)
                    isOpen[index] = !piece.isEmpty && collected[index].count < Recording.largest
                    collected[index] += piece
                }
                if input >= 0, polled[2].revents != 0 { send(bytes, &sent) }
            }
            let isLate = isOpen.contains(true)
            if isLate { kill(pid, SIGKILL) }
            if input >= 0 { close(input) }
            close(output)
            close(errors)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            guard !isLate else {
                return ([], "replacing the secrets took more than 60 seconds, which may be the plugin's time with placeholders")
            }
            let message = String(decoding: collected[1].prefix(4096), as: UTF8.self)
            guard status == 0 else { return ([], message.isEmpty ? "with placeholders the plugin ended the process" : message) }
            return (collected[0], "")
        }

        private mutating func send(_ bytes: [UInt8], _ sent: inout Int) {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            if count > 0 { sent += count }
            guard sent == bytes.count || count < 0 && errno != EAGAIN && errno != EINTR else { return }
            close(input)
            input = -1
        }

        private static var now: Int64 { nevod_monotonic_nanoseconds() }
    }
}
