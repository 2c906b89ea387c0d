import Glibc
import NevodHost
import NevodPluginChecks
import NevodSupport

/// The command line: parses its words, prepares the command, and runs it.
@main
struct NevodHostCommand {
    private let arguments: Arguments
    private let console: Console

    static func main() {
        TimeLimit.begin()
        let words = words()
        prepareProcess(words)
        runHelper(words)
        var report = ErrorReport(arguments: nil, console: Console(isSilent: false, verbosity: .none))
        do {
            let typed = try Arguments(words)
            report = ErrorReport(arguments: typed, console: Console(typed))
            if typed.has(.help) || typed.command == .help {
                try output(Help.text(for: typed, .ofOutput), terminator: "")
            } else if typed.has(.version) {
                try output("nevod-host \(Version.text)")
            } else {
                let arguments = try ProfileSelection(arguments: typed, console: report.console).merged().completingURLs()
                report = ErrorReport(arguments: arguments, console: Console(arguments))
                let command = NevodHostCommand(arguments: arguments, console: report.console)
                try command.check()
                try command.run()
            }
            end(ExitCode.success)
        } catch {
            end(report.write(error))
        }
    }

    /// Checks what the parser can't: the origins of credentials, `--debuggable`, and whether only one option reads standard
    /// input. Warns about probable mistakes.
    private func check() throws {
        for group in [arguments] + arguments.laterGroups { try CredentialScope(group).check() }
        try ProcessGuard.check(arguments)
        try arguments.checkStandardInput()
        for warning in arguments.warnings() { console.warning(warning) }
    }

    private func run() throws {
        switch arguments.command {
        case .request:
            onSession {
                try await RequestSeries(operations: arguments.operations, console: console, session: $0, report: report).run()
            }
        case .sign: onSession { try await SignCommand(arguments: arguments, console: console, session: $0).run() }
        case .header: onSession { try await HeaderCommand(arguments: arguments, console: console, session: $0).run() }
        case .run: onSession { try await RunCommand(arguments: arguments, console: console, session: $0).run() }
        case .login: onSession { try await LoginCommand(arguments: arguments, console: console, session: $0).run() }
        case .logout: onSession { try await LogoutCommand(arguments: arguments, console: console, session: $0).run() }
        case .sessions: onSession { _ in try await SessionsCommand(arguments: arguments, console: console).run() }
        case .store: onSession { _ in try await StoreCommand(arguments: arguments, console: console).run() }
        case .credential:
            guard let job = try CredentialJob(arguments, console) else { return }
            // The other program's request may choose the profile, which decides how to connect.
            NevodHostCommand(arguments: job.arguments, console: console).onSession { try await job.run(on: $0) }
        case .profile: onThread { try ProfileCommand(arguments: arguments, console: console).run() }
        case .record: throw UsageError("record needs a FILE and a command: nevod-host record FILE login --plugin NAME")
        case .replay: Self.end(try ReplayCommand(arguments: arguments, console: console).run())
        case .inspect: try InspectCommand(arguments: arguments).run()
        case .check: try CheckCommand(arguments: arguments, console: console).run()
        case .new: try NewCommand(arguments: arguments).run()
        case .completions: try output(Completions.script(for: arguments), terminator: "")
        case .manual: try output(ManPage.text, terminator: "")
        case .help: break
        }
    }
}

extension NevodHostCommand {
    /// The words of the command line as bytes, without the program's name.
    private static func words() -> [[UInt8]] {
        (1..<max(1, CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[Int(index)].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// Prepares the process. Call before anything is opened, read or parsed.
    private static func prepareProcess(_ words: [[UInt8]]) {
        InheritedState.capture(words)
        StandardDescriptors.open()
        // A closed pipe makes the write fail instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that exceeds the user's size limit makes the write fail instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        ProcessGuard.harden(words)
    }

    /// Runs a helper, which this program or a shell starts, if the words name one, and ends the process. Returns for a person's
    /// command.
    private static func runHelper(_ words: [[UInt8]]) {
        if CheckChild.isNamed(by: words) {
            CheckChild.main(exitStatus: ExitCode.plugin) { InspectCommand.text(of: $0, asJSON: $1) }
        }
        if PlaceholderRun.isMeant(by: words) { end(PlaceholderRun.run(words)) }
        if CompletionQuery.isMeant(by: words) { CompletionQuery.main(words) }
    }

    private var report: ErrorReport { ErrorReport(arguments: arguments, console: console) }

    /// Runs a command on a thread of its own, because it asks questions and starts programs. This thread waits for signals
    /// meanwhile.
    private func onThread(_ work: @escaping @Sendable () throws -> Void) -> Never {
        Interruption.shared.block()
        let isStarted = SystemThread.start {
            do {
                try work()
                Self.end(ExitCode.success)
            } catch {
                Self.end(report.write(error))
            }
        }
        guard isStarted else { Self.end(ExitCode.other) }
        Interruption.shared.waitForSignal()
    }

    /// Runs a command on the session's thread: a thread pool and hops between threads would cost a short process a fifth of its
    /// run time.
    private func onSession(_ work: @escaping @Sendable (CurlSession) async throws -> Void) -> Never {
        Interruption.shared.block()
        let session: CurlSession
        do {
            let builder = SessionBuilder(arguments: arguments)
            if let limit = try builder.maxTime() {
                TimeLimit.enforce(limit) { message in
                    console.errorWithoutWaiting(message)
                    Self.end(ExitCode.timeout)
                }
            }
            // Building the configuration then asks for the proxy's password, so another thread has to wait for signals.
            if arguments.value(.proxyUser).map(SecretSource.isSource) == false {
                SystemThread.start { Interruption.shared.waitForSignal() }
            }
            session = CurlSession(try builder.configuration())
        } catch {
            Self.end(report.write(error))
        }
        Task(executorPreference: session.executor) {
            do {
                try await work(session)
                Self.end(ExitCode.success)
            } catch {
                Self.end(report.write(error))
            }
        }
        Interruption.shared.waitForSignal()
    }

    /// Ends the process without the C library's exit handlers: nothing is buffered.
    private static func end(_ code: Int32) -> Never {
        _exit(CallRecorder.finish(code))
    }
}
