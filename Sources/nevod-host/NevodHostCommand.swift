import Glibc
import NevodHost

@main
struct NevodHostCommand {
    static func main() async {
        // A reader of our output that goes away is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ words: [String]) async -> Int32 {
        var console = Console(isSilent: false, isVerbose: false)
        do {
            let arguments = try Arguments(words)
            console = Console(isSilent: arguments.has(.silent), isVerbose: arguments.has(.verbose))
            if arguments.has(.help) {
                try FileDescriptor.standardOutput.write(Array((Help.text(for: arguments.command) + "\n").utf8).span)
            } else if arguments.has(.version) {
                try FileDescriptor.standardOutput.write(Array("nevod-host \(Version.text)\n".utf8).span)
            } else {
                switch arguments.command {
                case .request: try await RequestCommand(arguments: arguments, console: console).run()
                case .sign: try await SignCommand(arguments: arguments, console: console).run()
                case .inspect: try InspectCommand(arguments: arguments).run()
                }
            }
            return ExitCode.success
        } catch let error as OutputError where error.isBrokenPipe {
            return ExitCode.write
        } catch {
            console.error("\(error)")
            return ExitCode.of(error)
        }
    }
}
