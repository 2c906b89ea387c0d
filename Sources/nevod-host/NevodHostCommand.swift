import Glibc
import NevodHost
import NevodPluginChecks
import NevodSupport

@main
struct NevodHostCommand {
    static func main() {
        TimeLimit.begin()
        let words = (1..<max(1, CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[Int(index)].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        InheritedState.capture(words)
        StandardDescriptors.open()
        // A closed pipe makes the write fail instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that exceeds the user's size limit makes the write fail instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        ProcessGuard.harden(words)
        if CheckChild.isNamed(by: words) {
            CheckChild.main(exitStatus: ExitCode.plugin) { InspectCommand.text(of: $0, asJSON: $1) }
        }
        if PlaceholderRun.isMeant(by: words) { end(PlaceholderRun.run(words)) }
        if CompletionQuery.isMeant(by: words) { CompletionQuery.main(words) }
        var console = Console(isSilent: false, verbosity: .none)
        var merged: Arguments?
        do {
            var arguments = try Arguments(words)
            merged = arguments
            console = Console(
                isSilent: arguments.has(.silent), showsErrors: arguments.has(.showError), verbosity: arguments.verbosity)
            if arguments.has(.help) || arguments.command == .help {
                try print(Help.text(for: arguments, .ofOutput))
            } else if arguments.has(.version) {
                try print("nevod-host \(Version.text)\n")
            } else {
                arguments = try ProfileSelection(arguments: arguments, console: console).merged().completingURLs()
                merged = arguments
                console = Console(
                    isSilent: arguments.has(.silent), showsErrors: arguments.has(.showError), verbosity: arguments.verbosity)
                for group in [arguments] + arguments.laterGroups { try CredentialScope(group).check() }
                try ProcessGuard.check(arguments)
                try arguments.checkStandardInput()
                for warning in arguments.warnings() { console.warning(warning) }
                switch arguments.command {
                case .record: throw UsageError("record needs a FILE and a command: nevod-host record FILE login --plugin NAME")
                case .replay: end(try ReplayCommand(arguments: arguments, console: console).run())
                case .inspect: try InspectCommand(arguments: arguments).run()
                case .check: try CheckCommand(arguments: arguments, console: console).run()
                case .profile:
                    let command = ProfileCommand(arguments: arguments, console: console)
                    runOnThread(arguments, console) { try command.run() }
                case .new: try NewCommand(arguments: arguments).run()
                case .completions: try print(completions(arguments))
                case .manual: try print(ManPage.text)
                case .help: break
                case .credential:
                    // The profile, which may follow from the request, decides how to connect.
                    guard let job = try CredentialJob(arguments, console) else { end(ExitCode.success) }
                    runOnSession(job.arguments, console) {
                        try await job.run(on: $0)
                    }
                case .request, .sign, .header, .run, .login, .logout, .sessions, .store:
                    runOnSession(arguments, console)
                }
            }
            end(ExitCode.success)
        } catch {
            end(report(error, console, merged))
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

    /// Runs a command that asks and starts programs, while this thread waits for signals.
    private static func runOnThread(_ arguments: Arguments, _ console: Console, _ body: @escaping @Sendable () throws -> Void)
        -> Never
    {
        Interruption.shared.block()
        let isStarted = SystemThread.start {
            do {
                try body()
                end(ExitCode.success)
            } catch {
                end(report(error, console, arguments))
            }
        }
        guard isStarted else { end(ExitCode.other) }
        Interruption.shared.waitForSignal()
    }

    /// Runs everything on the session's thread: a thread pool and the hops between threads would cost a short process a fifth of
    /// its time.
    private static func runOnSession(
        _ arguments: Arguments, _ console: Console, _ body: (@Sendable (CurlSession) async throws -> Void)? = nil
    ) -> Never {
        Interruption.shared.block()
        if let limit = try? SessionBuilder(arguments: arguments).maxTime() {
            TimeLimit.enforce(limit) { message in
                console.errorWithoutWaiting(message)
                end(ExitCode.timeout)
            }
        }
        let session: CurlSession
        do {
            // It may have to ask for a proxy's password.
            if arguments.value(.proxyUser).map(SecretSource.isSource) == false {
                SystemThread.start { Interruption.shared.waitForSignal() }
            }
            session = CurlSession(try SessionBuilder(arguments: arguments).configuration())
        } catch {
            end(report(error, console, arguments))
        }
        Task(executorPreference: session.executor) {
            do {
                if let body { try await body(session) } else { try await run(arguments, console, session) }
                end(ExitCode.success)
            } catch {
                end(report(error, console, arguments))
            }
        }
        Interruption.shared.waitForSignal()
    }

    private static func run(_ arguments: Arguments, _ console: Console, _ session: CurlSession) async throws {
        switch arguments.command {
        case .sign: try await SignCommand(arguments: arguments, console: console, session: session).run()
        case .header: try await HeaderCommand(arguments: arguments, console: console, session: session).run()
        case .run: try await RunCommand(arguments: arguments, console: console, session: session).run()
        case .login: try await LoginCommand(arguments: arguments, console: console, session: session).run()
        case .logout: try await LogoutCommand(arguments: arguments, console: console, session: session).run()
        case .sessions: try await SessionsCommand(arguments: arguments, console: console).run()
        case .store: try await StoreCommand(arguments: arguments, console: console).run()
        default:
            let operations = try arguments.operations
            if operations.count == 1 {
                return try await RequestCommand(arguments: operations[0], console: console, session: session).run()
            }
            try await RequestSeries(operations: operations, console: console, session: session) {
                report($0, console, arguments)
            }.run()
        }
    }

    private static func report(_ error: any Error, _ console: Console, _ arguments: Arguments? = nil) -> Int32 {
        if let failure = error as? ReportedFailure { return failure.code }
        var error = error
        // The interceptor's name doesn't help a user of the command line.
        if case NetworkError.interceptor(_, let cause) = error, cause is StorageError || cause is UnreadableTokenError {
            error = cause
        }
        if let error = error as? DockerError {
            try? output(Redaction.shared.message(error.description))
            guard !error.isExpected else { return error.exitCode }
        }
        // A closed output pipe is not reported: the reader has ended.
        if (error as? OutputError)?.isBrokenPipe != true {
            console.error("\(arguments?.place(of: error) ?? "")\(ErrorText(arguments: arguments).text(of: error))")
        }
        if console.verbosity == .details, let detail = PluginError.cause(of: error)?.revealDetail() { console.detail(detail) }
        return ExitCode.of(error)
    }

    /// Skips the C library's exit handlers: nothing is buffered.
    private static func end(_ code: Int32) -> Never {
        _exit(CallRecorder.finish(code))
    }
}
