import Glibc
import NevodHost
import NevodSupport

enum Terminal {
    /// Asks on the process's own terminal, whatever its standard streams are, without echo. Nil if there is none.
    static func askSecret(_ prompt: String) throws -> Secret? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var quiet = before
        quiet.c_lflag &= ~tcflag_t(ECHO)
        quiet.c_lflag |= tcflag_t(ECHONL)
        Interruption.shared.begin { () -> (Void, Interruption.Undo?) in
            tcsetattr(terminal, TCSAFLUSH, &quiet)
            let saved = before
            return (
                (),
                {
                    var saved = saved
                    tcsetattr(terminal, TCSAFLUSH, &saved)
                }
            )
        }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            Interruption.shared.end()
        }
        try FileDescriptor(number: terminal, name: "the terminal").write(Array(prompt.utf8).span)
        var line = [UInt8](repeating: 0, count: 4096)
        defer { line.withUnsafeMutableBytes { $0.wipe() } }
        let count = read(terminal, &line, line.count)
        guard count > 0 else { throw InputError("the terminal", count < 0 ? errno : EIO) }
        return Secret(copying: Array(line[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }))
    }
}
