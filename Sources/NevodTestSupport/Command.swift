package import Glibc
import NevodProcesses

/// A program that a test runs: a compiler, a server, or Python as a second opinion.
package enum Command {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Runs a program and returns its standard output.
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
        guard let program = path(of: arguments[0]) else { throw Failure(description: "\(arguments[0]) is not in PATH") }
        do throws(Subprocess.StartError) {
            let child = try Subprocess(
                program, arguments, environment: .only(environment ?? inheritedEnvironment()), input: .null, output: .pipe,
                errors: quiet ? .null : .inherited)
            // A copy, for the caller to close. It blocks.
            let pipe = fcntl(child.pipe(STDOUT_FILENO), F_DUPFD_CLOEXEC, 3)
            _ = fcntl(pipe, F_SETFL, 0)
            return (child.id, pipe)
        } catch { throw Failure(description: "\(arguments[0]): \(error.reason)") }
    }

    private static func path(of program: String) -> String? {
        if program.contains("/") { return program }
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Without LD_PRELOAD: a sanitizer preloaded for the test runner must not get into a compiler.
    private static func inheritedEnvironment() -> [String] {
        ["PATH", "HOME", "TMPDIR"].compactMap { (name: String) -> String? in getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    /// Whether a program ends within this time. If so, collects its status.
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

/// Reads lines from a pipe as they arrive.
package final class LineReader {
    private let pipe: Int32
    private var buffer: [UInt8] = []

    package init(_ pipe: Int32) { self.pipe = pipe }

    /// The next complete line; nil at the end of the pipe.
    package func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(pipe, &piece, piece.count)
            guard count > 0 else { return nil }
            buffer += piece[..<count]
        }
    }

    /// All lines up to the end of the pipe.
    package func rest() -> [String] {
        var lines: [String] = []
        while let line = next() { lines.append(line) }
        return lines
    }
}

/// The path of a program that the build has put beside the test binary.
package func helperProgram(_ name: String) throws -> String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let folder = path.prefix(max(0, count)).map(UInt8.init(bitPattern:)).split(separator: UInt8(ascii: "/")).dropLast()
    let program = "/" + folder.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") + "/\(name)"
    guard access(program, X_OK) == 0 else {
        throw Command.Failure(description: "\(program) is missing; make it with swift build")
    }
    return program
}

/// The program storage-child: a process that uses a store, and that a test may kill.
package enum StorageChild {
    package static func spawn(_ arguments: [String], environment: [String] = []) throws -> (pid: pid_t, pipe: Int32) {
        try Command.spawn([helperProgram("storage-child")] + arguments, environment: environment)
    }

    /// Runs the program and returns the last line that it printed.
    package static func lastLine(_ arguments: [String], environment: [String] = []) throws -> String {
        let (pid, pipe) = try spawn(arguments, environment: environment)
        defer { close(pipe) }
        let lines = LineReader(pipe).rest()
        let status = Command.wait(for: pid)
        return lines.last ?? "storage-child ended with \(status)"
    }

    /// The bytes that storage-child saves for a number.
    package static func value(_ number: Int) -> [UInt8] {
        let copies = 1 + number % 9 * 1500
        return Array("\(number) \(copies)".utf8) + Array(String(repeating: " \(number)", count: copies).utf8)
    }
}
