import Glibc
import NevodHost
import NevodPluginTesting
import NevodProcesses
import NevodSupport

/// Replaces a recording's secrets with placeholders. This happens in a separate process, because the plugin runs once more, with
/// the placeholders.
enum PlaceholderRun {
    /// Reports that a recording would contain secrets, or would not show what happened.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        fileprivate init(description: String) { self.description = description }

        /// - Parameter problem: the reason why the secrets can't be replaced.
        fileprivate init(withoutPlaceholders problem: String) {
            description =
                "\(TerminalText.safe(problem)); --keep-secrets records without placeholders, best with an account for tests"
        }
    }

    /// The word with which the program starts itself. It is not a command for people.
    private static let word = "replay-with-placeholders"
    /// The time limit. A plugin that hangs with placeholders must not delay the command.
    private static let patience = Duration.seconds(60)

    // MARK: The child

    static func isMeant(by words: [[UInt8]]) -> Bool { words.count == 2 && words[0].elementsEqual(word.utf8) }

    /// Reads a recording from standard input, and writes it with placeholders to standard output. On failure, writes the reason
    /// to standard error.
    static func run(_ words: [[UInt8]]) -> Int32 {
        do {
            // The plugin's own output must not mix with the recording.
            let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
            guard output >= 0, dup2(2, 1) == 1 else {
                throw Failure(description: "standard output can't be redirected: \(String(cString: strerror(errno)))")
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

    /// Returns the bytes of the file to write.
    static func redacted(_ recording: Recording, _ plugin: String) throws -> [UInt8] {
        let (output, problem) = try exchange(recording.encoded, with: start(plugin))
        guard problem.isEmpty else { throw Failure(withoutPlaceholders: problem) }
        // The plugin can write to every descriptor of its process, so it may have damaged the output.
        guard (try? Recording(parsing: output))?.calls.count == recording.calls.count else {
            throw Failure(withoutPlaceholders: "the copy with placeholders is damaged: the plugin wrote into it")
        }
        return output
    }

    private static func start(_ plugin: String) throws(Failure) -> Subprocess {
        do throws(Subprocess.StartError) {
            return try Subprocess("/proc/self/exe", ["nevod-host", word, plugin], input: .pipe, output: .pipe, errors: .pipe)
        } catch {
            switch error {
            case .pipe: throw Failure(description: "a pipe can't be created: \(error.reason)")
            case .program: throw Failure(description: "the program can't start itself: \(error.reason)")
            }
        }
    }

    /// Writes the input, and reads both outputs, within the time limit.
    private static func exchange(_ bytes: [UInt8], with child: Subprocess) throws -> (output: [UInt8], problem: String) {
        let outputs = [STDOUT_FILENO, STDERR_FILENO]
        var collected: [[UInt8]] = [[], []]
        var sent = 0
        let deadline = ContinuousClock.now + patience
        while outputs.contains(where: { child.pipe($0) >= 0 }), ContinuousClock.now < deadline {
            var polled = outputs.map { pollfd(fd: child.pipe($0), events: Int16(POLLIN), revents: 0) }
            polled.append(pollfd(fd: child.pipe(STDIN_FILENO), events: Int16(POLLOUT), revents: 0))
            guard poll(&polled, 3, 1000) >= 0 || errno == EINTR else { break }
            for (index, number) in outputs.enumerated() where polled[index].revents != 0 {
                let piece = try FileDescriptor(number: polled[index].fd, name: "a pipe").readSome(upTo: 64 << 10)
                if piece.isEmpty || collected[index].count >= Recording.largest { child.closePipe(number) }
                collected[index] += piece
            }
            if polled[2].revents != 0 { send(bytes, &sent, to: child) }
        }
        let isLate = outputs.contains { child.pipe($0) >= 0 }
        for number in [STDIN_FILENO] + outputs { child.closePipe(number) }
        // A plugin may also hang after it has closed both outputs.
        guard !isLate, let ending = child.wait(until: deadline) else {
            child.send(SIGKILL)
            child.wait()
            return ([], "replacing the secrets took more than 60 seconds; the plugin may hang with placeholders")
        }
        let message = String(decoding: collected[1].prefix(4096), as: UTF8.self)
        if ending == .exit(0) { return (collected[0], "") }
        return ([], message.isEmpty ? "with placeholders the plugin ended the process" : message)
    }

    private static func send(_ bytes: [UInt8], _ sent: inout Int, to child: Subprocess) {
        let count = bytes[sent...].withUnsafeBytes { Glibc.write(child.pipe(STDIN_FILENO), $0.baseAddress, $0.count) }
        if count > 0 { sent += count }
        guard sent == bytes.count || count < 0 && errno != EAGAIN && errno != EINTR else { return }
        child.closePipe(STDIN_FILENO)
    }
}

/// A plugin's table, after the host's checks, for calls without the host.
struct LoadedTable {
    let plugin: Plugin
    let table: UnsafePointer<nevod_plugin>

    /// - Parameter path: a path, or a bare name.
    init(path: String) throws {
        PluginCrashReport.install(program: "nevod-host", exitStatus: ExitCode.plugin, neverExits: true)
        let found = Locked<UInt>(0)
        plugin = try Plugin(named: path) { table in
            found.withLock { $0 = UInt(bitPattern: table) }
            return table
        }
        guard let table = UnsafePointer<nevod_plugin>(bitPattern: found.withLock { $0 }) else {
            throw UsageError("\(path) has no table")
        }
        self.table = table
    }
}
