import Glibc

/// Standard input, output and error of a process that was started without one of them.
enum StandardDescriptors {
    /// glibc declares it for GNU sources only. The same on all processors.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Opens those that are closed. Otherwise the next file or socket would get the number, and a response's body would be written
    /// into it. Call before anything else is opened, by libraries as well.
    ///
    /// A place holder can't be read or written (EBADF), so that a closed output is the error that it is for other programs. Nor can
    /// it be opened again by the name /dev/stdout, as /dev/null could.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number, since those below are open. Without it, the process can't go on safely.
            guard Glibc.open("/", pathOnly) == number else { _exit(ExitCode.write) }
        }
    }
}
