import Foundation

/// Passwords come from the environment or the terminal, never from an argument, which all users of the machine can read.
enum Password {
    static let variable = "SHREDMATE_PASSWORD"

    /// Returns nil if there is neither a variable nor a line of input.
    static func read(prompt: String) -> String? {
        if let password = ProcessInfo.processInfo.environment[variable] { return password }
        guard isatty(STDIN_FILENO) == 1 else { return readLine() }
        // The prompt comes last, because anything typed before it would be shown and dropped.
        return withoutEcho {
            FileHandle.standardError.write(Data(prompt.utf8))
            defer { FileHandle.standardError.write(Data("\n".utf8)) }
            return readLine()
        }
    }

    private static func withoutEcho<Result>(_ body: () -> Result) -> Result {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return body() }
        var quiet = settings
        quiet.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return body()
    }
}
