import Glibc
import NevodHost
import NevodProcesses
import NevodSupport

/// Runs the command of a source `command:…`, and returns its output. (AWS calls such a command a credential_process.)
struct SourceCommand {
    let words: [String]
    /// The value's name, for messages. Messages contain only the command's first word, because the others may be confidential,
    /// and never its output.
    let what: String

    /// The time limit without `--max-time`.
    static let limit = Duration.seconds(60)

    private static let undoName = "command"
    private static func undoName(of started: Result<Subprocess, Subprocess.StartError>) -> String { undoName }

    init(_ text: String, what: String) throws(SettingSourceError) {
        do throws(CommandWordsError) { words = try CommandWords.split(text) } catch {
            throw SettingSourceError("\(what) is read from a command that \(error); write command:PROGRAM ARGUMENT …")
        }
        self.what = what
    }

    private var name: String { TerminalText.safe(words[0]) }

    func output() throws(SettingSourceError) -> [UInt8] {
        guard let program = ProgramSearch.path(of: words[0]) else {
            throw failure("which is not found\(words[0].contains("/") ? "" : " in PATH"), or not executable")
        }
        // If a signal or --max-time ends this process first, the command is terminated.
        let started = Interruption.shared.begin(named: Self.undoName(of:)) {
            () -> (Result<Subprocess, Subprocess.StartError>, Interruption.Undo?) in
            let started = Result { () throws(Subprocess.StartError) in
                try Subprocess(program, words, input: .null, output: .pipe)
            }
            guard case .success(let command) = started else { return (started, nil) }
            return (started, { command.send(SIGTERM) })
        }
        defer { Interruption.shared.end(Self.undoName) }
        let command: Subprocess
        do throws(Subprocess.StartError) { command = try started.get() } catch {
            switch error {
            case .pipe: throw failure("for which a pipe can't be created: \(error.reason)")
            case .program: throw failure("which can't be started: \(error.reason)")
            }
        }
        return try Activity.during("waiting for the command \(name)") { () throws(SettingSourceError) in
            try output(of: command)
        }
    }

    /// Reads until the command has ended. A program that the command started may keep the pipe open longer.
    private func output(of command: Subprocess) throws(SettingSourceError) -> [UInt8] {
        let reading = command.pipe(STDOUT_FILENO)
        let limit = TimeLimit.enforced.map(TimeLimit.remaining) ?? Self.limit
        let deadline = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        defer { bytes.withUnsafeMutableBytes { $0.wipe() } }
        var ending: Subprocess.Ending?
        var isAtEnd = false
        while true {
            if ending == nil { ending = command.ending }
            var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let count = isAtEnd ? poll(nil, 0, 10) : poll(&ready, 1, ending == nil ? 50 : 0)
            if !isAtEnd, count > 0 {
                guard let piece = try? FileDescriptor(number: reading, name: "the command").readSome(upTo: 4096) else {
                    command.stop()
                    throw failure("whose output can't be read")
                }
                bytes += piece
                isAtEnd = piece.isEmpty
                guard bytes.count <= InputLimit.setting else {
                    command.stop()
                    throw failure("which prints more than \(InputLimit.setting >> 20) MiB")
                }
            } else if let ending {
                guard ending == .exit(0) else { throw failure("which \(ending)") }
                return bytes
            }
            guard ContinuousClock.now < deadline else {
                if ending == nil { command.stop() }
                throw failure("which has not ended within \(Units.seconds(limit)); allow more time with --max-time")
            }
        }
    }

    private func failure(_ problem: String) -> SettingSourceError {
        SettingSourceError("\(what) is read from the command \"\(name)\", \(problem)")
    }
}
