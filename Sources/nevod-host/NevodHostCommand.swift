import Glibc
import NevodHost

@main
struct NevodHostCommand {
    static func main() {
        // A reader of our output that goes away is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
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
                runOnSession(arguments, console)
            }
            end(ExitCode.success)
        } catch {
            end(report(error, console))
        }
    }

    /// Everything happens on the session's thread: a pool of threads, and the hops between them, would cost a short process
    /// a fifth of its time.
    private static func runOnSession(_ arguments: Arguments, _ console: Console) -> Never {
        let session = CurlSession(
            CurlSession.Configuration(caFile: arguments.value(.caFile) ?? certificatesFromEnvironment()))
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
        while true { pause() }
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

    /// From the variables that curl, OpenSSL and their users know.
    private static func certificatesFromEnvironment() -> String? {
        ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap(environment).first { !$0.isEmpty }
    }
}
