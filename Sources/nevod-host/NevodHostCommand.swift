import Glibc
import NevodHost
import NevodSupport

@main
struct NevodHostCommand {
    static func main() {
        TimeLimit.begin()
        StandardDescriptors.open()
        ProcessGuard.harden()
        // A closed pipe makes the write fail instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that exceeds the user's size limit makes the write fail instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        let words = (1..<max(1, CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[Int(index)].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        var console = Console(isSilent: false, verbosity: .none)
        do {
            var arguments = try Arguments(words)
            console = Console(isSilent: arguments.has(.silent), verbosity: arguments.verbosity)
            if arguments.has(.help) {
                try print(Help.text(for: arguments.command) + "\n")
            } else if arguments.has(.version) {
                try print("nevod-host \(Version.text)\n")
            } else {
                if let name = arguments.value(.profile) { arguments = arguments.merging(try profile(name, console)) }
                try arguments.checkStandardInput()
                switch arguments.command {
                case .inspect: try InspectCommand(arguments: arguments).run()
                case .completions: try print(completions(arguments))
                case .manual: try print(ManPage.text)
                case .request, .sign, .login, .logout, .sessions, .store:
                    runOnSession(arguments, console, try SessionBuilder(arguments: arguments).configuration())
                }
            }
            end(ExitCode.success)
        } catch {
            end(report(error, console))
        }
    }

    private static func print(_ text: String) throws {
        try writeOutput(text)
    }

    private static func completions(_ arguments: Arguments) throws -> String {
        guard arguments.operands.count == 1, let shell = Completions.Shell(rawValue: arguments.operands[0]) else {
            throw UsageError("completions needs one of \(Completions.Shell.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return Completions.script(for: shell)
    }

    private static func profile(_ name: String, _ console: Console) throws -> Profile {
        guard let path = ConfigFile.defaultPath() else {
            throw UsageError("--profile needs a config file, and there is no home directory for one; set HOME or XDG_CONFIG_HOME")
        }
        guard let file = try ConfigFile.load(path: path) else {
            throw UsageError("there is no config file for --profile; write \(path), see the manual")
        }
        if file.isReadableByOthers { console.warning("\(path) can be read by others; chmod 600 it") }
        return try file.profile(name)
    }

    /// Runs everything on the session's thread: a thread pool and the hops between threads would cost a short process a fifth of
    /// its time.
    private static func runOnSession(
        _ arguments: Arguments, _ console: Console, _ configuration: CurlSession.Configuration
    ) -> Never {
        let session = CurlSession(configuration)
        Interruption.shared.block()
        if let limit = try? SessionBuilder(arguments: arguments).maxTime() {
            TimeLimit.enforce(limit) { message in
                console.errorWithoutWaiting(message)
                end(ExitCode.timeout)
            }
        }
        Task(executorPreference: session.executor) {
            do {
                try await run(arguments, console, session)
                end(ExitCode.success)
            } catch {
                end(report(error, console, arguments.command))
            }
        }
        Interruption.shared.waitForSignal()
    }

    private static func run(_ arguments: Arguments, _ console: Console, _ session: CurlSession) async throws {
        switch arguments.command {
        case .sign: try await SignCommand(arguments: arguments, console: console, session: session).run()
        case .login: try await LoginCommand(arguments: arguments, console: console, session: session).run()
        case .logout: try await LogoutCommand(arguments: arguments, console: console, session: session).run()
        case .sessions: try await SessionsCommand(arguments: arguments, console: console).run()
        case .store: try await StoreCommand(arguments: arguments, console: console).run()
        default: try await RequestCommand(arguments: arguments, console: console, session: session).run()
        }
    }

    private static func report(_ error: any Error, _ console: Console, _ command: Command? = nil) -> Int32 {
        var error = error
        // The interceptor's name doesn't help a user of the command line.
        if case NetworkError.interceptor(_, let cause) = error, cause is StorageError || cause is UnreadableTokenError {
            error = cause
        }
        // A closed output pipe is not reported: the reader has ended.
        if (error as? OutputError)?.isBrokenPipe != true { console.error("\(error)\(suggestion(for: error, command))") }
        if console.verbosity == .details, let detail = PluginError.cause(of: error)?.revealDetail() { console.detail(detail) }
        return ExitCode.of(error)
    }

    private static func suggestion(for error: any Error, _ command: Command?) -> String {
        if error is StorageError, let command, [.request, .sign].contains(command) {
            return "; or log in for this command only, with --no-store"
        }
        return switch (error as? PluginError)?.reason {
        case .unknownSetting(_, let name, let valid): Suggestions.hint(for: name, among: valid)
        case .flowFault: "; -v shows what it sends"
        case .failed(_, "the login flow", PluginStatus.denied.rawValue, _, _, _): "; check the answers and the settings"
        default: ""
        }
    }

    /// Skips the C library's exit handlers: nothing is buffered.
    private static func end(_ code: Int32) -> Never {
        _exit(code)
    }
}
