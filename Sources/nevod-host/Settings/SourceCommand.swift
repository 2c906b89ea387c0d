import Glibc
import NevodHost
import NevodSupport

/// Runs the command of a source `command:…`, and returns what it prints. (AWS calls such a command a credential_process.)
struct SourceCommand {
    let words: [String]
    /// The value's name, for errors. They name the command's first word alone, since others may be confidential, and never its output.
    let what: String

    /// The time limit without `--max-time`.
    static let limit = Duration.seconds(60)

    private static let undoName = "command"
    private static func undoName(of started: Result<pid_t, ChildProgram.Failure>) -> String { undoName }

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
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure("for which there is no pipe: \(String(cString: strerror(errno)))") }
        let reading = ends[0]
        defer { close(reading) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Killed if a signal or --max-time ends this process first.
        let started = Interruption.shared.begin(named: Self.undoName(of:)) {
            () -> (Result<pid_t, ChildProgram.Failure>, Interruption.Undo?) in
            let started = ChildProgram.start(program, words, output: ends[1])
            guard case .success(let child) = started else { return (started, nil) }
            return (started, { kill(child, SIGTERM) })
        }
        close(ends[1])
        defer { Interruption.shared.end(Self.undoName) }
        let child: pid_t
        switch started {
        case .success(let id): child = id
        case .failure(let error): throw failure("which can't be started: \(String(cString: strerror(error.errorNumber)))")
        }
        return try Activity.during("waiting for the command \(name)") { () throws(SettingSourceError) in
            try wait(for: child, reading)
        }
    }

    /// Reads until the command has ended. A program that it leaves behind may keep the pipe open.
    private func wait(for child: pid_t, _ reading: Int32) throws(SettingSourceError) -> [UInt8] {
        let limit = TimeLimit.enforced.map(TimeLimit.remaining) ?? Self.limit
        let deadline = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        defer { bytes.withUnsafeMutableBytes { $0.wipe() } }
        var status: Int32?
        var isAtEnd = false
        while true {
            if status == nil { status = Self.status(of: child) }
            var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let count = isAtEnd ? poll(nil, 0, 10) : poll(&ready, 1, status == nil ? 50 : 0)
            if !isAtEnd, count > 0 {
                guard let piece = try? FileDescriptor(number: reading, name: "the command").readSome(upTo: 4096) else {
                    stop(child)
                    throw failure("whose output can't be read")
                }
                bytes += piece
                isAtEnd = piece.isEmpty
                guard bytes.count <= InputLimit.setting else {
                    stop(child)
                    throw failure("which prints more than \(InputLimit.setting >> 20) MiB")
                }
            } else if let status {
                let ending = ChildProgram.Ending(status)
                guard ending == .exit(0) else { throw failure("which \(ending.description)") }
                return bytes
            }
            guard ContinuousClock.now < deadline else {
                if status == nil { stop(child) }
                throw failure("which has not ended within \(Units.seconds(limit)); allow more time with --max-time")
            }
        }
    }

    private static func status(of child: pid_t) -> Int32? {
        var status: Int32 = 0
        return waitpid(child, &status, WNOHANG) == child ? status : nil
    }

    private func stop(_ child: pid_t) {
        kill(child, SIGTERM)
        for _ in 0..<100 {
            if Self.status(of: child) != nil { return }
            usleep(10_000)
        }
        kill(child, SIGKILL)
        var status: Int32 = 0
        waitpid(child, &status, 0)
    }

    private func failure(_ problem: String) -> SettingSourceError {
        SettingSourceError("\(what) is read from the command \"\(name)\", \(problem)")
    }
}
