import Glibc
import NevodHost

@main
struct NevodHostCommand {
    static func main() {
        // A reader of our output that goes away is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let words = (1..<max(1, CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[Int(index)].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        var console = Console(isSilent: false, isVerbose: false)
        do {
            let arguments = try Arguments(words)
            console = Console(isSilent: arguments.has(.silent), isVerbose: arguments.has(.verbose))
            if arguments.has(.help) {
                try FileDescriptor.standardOutput.write(Array((Help.text(for: arguments.command) + "\n").utf8).span)
            } else if arguments.has(.version) {
                try FileDescriptor.standardOutput.write(Array("nevod-host \(Version.text)\n".utf8).span)
            } else if arguments.command == .inspect {
                try InspectCommand(arguments: arguments).run()
            } else {
                runOnSession(arguments, console, try SessionBuilder(arguments: arguments).configuration())
            }
            end(ExitCode.success)
        } catch {
            end(report(error, console))
        }
    }

    /// Everything happens on the session's thread: a pool of threads, and the hops between them, would cost a short process
    /// a fifth of its time.
    private static func runOnSession(
        _ arguments: Arguments, _ console: Console, _ configuration: CurlSession.Configuration
    ) -> Never {
        let session = CurlSession(configuration)
        Interruption.shared.block()
        Task(executorPreference: session.executor) {
            do {
                if arguments.command == .sign {
                    try await SignCommand(arguments: arguments, console: console, session: session).run()
                } else {
                    try await RequestCommand(arguments: arguments, console: console, session: session).run()
                }
                end(ExitCode.success)
            } catch {
                end(report(error, console))
            }
        }
        Interruption.shared.waitAndDie()
    }

    private static func report(_ error: any Error, _ console: Console) -> Int32 {
        // Whoever read our output has gone: nothing to say to anyone.
        if (error as? OutputError)?.isBrokenPipe != true { console.error("\(error)") }
        return ExitCode.of(error)
    }

    /// Nothing is buffered by now, so there is nothing that the C library's exit handlers could do for us.
    private static func end(_ code: Int32) -> Never {
        _exit(code)
    }
}
