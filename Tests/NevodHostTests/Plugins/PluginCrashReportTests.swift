import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests the report in a program that embeds the library and has its own handlers. The command line's tests cover each function
/// and each kind of crash.
struct PluginCrashReportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    #if NEVOD_ADDRESS_SANITIZER || NEVOD_THREAD_SANITIZER
        /// A sanitizer's handler was installed first. It reports and exits.
        private static let crash = ExitTest.Condition.failure
    #else
        private static let crash = ExitTest.Condition.signal(SIGSEGV)
    #endif
    private static let line = #"embedding: libcrash.so crashed in authorize of its scheme "crash" (SIGSEGV at address 0x0)"#

    /// Compiles the command line tests' plugin with one fault.
    private func plugin(_ fault: String, in function: String = "authorize") throws -> String {
        let path = "\(folder.path)/libcrash.so"
        _ = try Command.output([
            "cc", "-std=c11", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-I\(repository)/Sources/NevodPluginABI/include",
            "-DPLACE=\"\(function)\"", "-DFAULT=\(fault)", "\(repository)/Tests/CommandLine/crash.c", "-o", path,
        ])
        return path
    }

    private static func lines(_ result: ExitTest.Result?) -> [String] {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `A crash is reported, and then ends the process as before`() async throws {
        let path = try plugin("WRITE_TO_NULL")
        let result = await #expect(processExitsWith: Self.crash, observing: [\.standardErrorContent]) { [path = path as String] in
            PluginCrashReport.install(program: "embedding")
            PluginCrashReport.install(program: "another")
            try authorize(path)
        }
        #expect(Self.lines(result).count { $0.contains(" crashed in ") } == 1)
        #expect(Self.lines(result).contains(Self.line))
    }

    @Test func `Without a call of install, nothing is reported`() async throws {
        let path = try plugin("WRITE_TO_NULL")
        let result = await #expect(processExitsWith: Self.crash, observing: [\.standardErrorContent]) { [path = path as String] in
            try authorize(path)
        }
        #expect(!Self.lines(result).contains { $0.contains(" crashed in ") })
    }

    @Test func `An overflow of the stack is reported on any thread`() async throws {
        let path = try plugin("RECURSE")
        let result = await #expect(processExitsWith: Self.crash, observing: [\.standardErrorContent]) { [path = path as String] in
            PluginCrashReport.install(program: "embedding")
            authorizeOnThread(path)
        }
        #expect(
            Self.lines(result).contains { $0.hasPrefix("embedding: libcrash.so crashed in") && $0.hasSuffix("a stack overflow)") }
        )
    }

    @Test func `The program's own handler gets the signal after the report, with its information`() async throws {
        let path = try plugin("WRITE_TO_NULL")
        let result = await #expect(processExitsWith: .exitCode(42), observing: [\.standardErrorContent]) {
            [path = path as String] in
            installHandler()
            PluginCrashReport.install(program: "embedding")
            try authorize(path)
        }
        #expect(Self.lines(result).suffix(2) == [Self.line, "the program's handler, at address 0"])
    }

    @Test func `A fault outside of a plugin's call is passed on without a line`() async throws {
        let path = try plugin("WRITE_TO_NULL", in: "nowhere")
        let result = await #expect(processExitsWith: .exitCode(42), observing: [\.standardErrorContent]) {
            [path = path as String] in
            installHandler()
            PluginCrashReport.install(program: "embedding")
            try authorize(path)
            raise(SIGSEGV)
        }
        #expect(Self.lines(result).count == 1 && Self.lines(result)[0].hasPrefix("the program's handler"))
    }

    // A sanitizer's runtime ends the process itself when a thread of Swift's tests is terminated.
    #if NEVOD_ADDRESS_SANITIZER || NEVOD_THREAD_SANITIZER
        private static let endings = ["exit(0)", "exit(3)"]
    #else
        private static let endings = ["exit(0)", "exit(3)", "pthread_exit(0)"]
    #endif

    @Test(arguments: endings)
    func `A plugin that ends the process gives it the chosen status, after the program's own exit handlers`(
        fault: String
    ) async throws {
        let path = try plugin(fault)
        let result = await #expect(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            [path = path as String] in
            PluginCrashReport.install(program: "embedding", exitStatus: 71)
            atexit { say("the program's exit handler") }
            authorizeOnThread(path)
        }
        let lines = Self.lines(result)
        #expect(lines.contains { $0.hasPrefix("embedding: libcrash.so ended the ") })
        #expect(lines.contains("the program's exit handler"))
    }

    @Test func `The program's own exit is not a plugin's`() async throws {
        let path = try plugin("exit(0)", in: "nowhere")
        let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            [path = path as String] in
            PluginCrashReport.install(program: "embedding")
            try authorize(path)
            exit(3)
        }
        #expect(!Self.lines(result).contains { $0.hasPrefix("embedding: ") })
    }

    /// A sanitizer's handler is installed before main, on its own alternate stack.
    @Test(arguments: ["WRITE_TO_NULL", "RECURSE"])
    func `AddressSanitizer still reports`(fault: String) throws {
        let program = "\(folder.path)/host"
        let sources = "\(repository)/Sources/C/CPluginCalls"
        _ = try Command.output([
            "cc", "-std=c11", "-O1", "-w", "-g", "-fsanitize=address", "-pthread", "-I\(sources)/include", "-DFAULT=\(fault)",
            "\(repository)/Tests/NevodHostTests/TestPlugins/crash_host.c", "\(sources)/crash_report.c",
            "\(sources)/plugin_calls.c", "-o", program,
        ])
        let output = try Command.output(["sh", "-c", "ASAN_OPTIONS=detect_leaks=0 \(program) 2>&1; test $? -ne 0"])
        let lines = output.split(separator: "\n")
        let report = try #require(
            lines.firstIndex { $0.hasPrefix(#"host: libcrash.so crashed in authorize of its scheme "crash""#) })
        let sanitizer = try #require(lines.firstIndex { $0.contains("ERROR: AddressSanitizer") })
        #expect(report < sanitizer)
        #expect(output.contains("crash_host.c"))
    }
}

private func authorize(_ path: String) throws {
    var request = try HTTPRequest(.get, "http://h/")
    try Plugin(named: path).scheme().makeInstance().authorize(&request, attempt: 1)
}

/// Runs it on a thread outside of Swift's pool, and waits for it.
private func authorizeOnThread(_ path: String) {
    var thread = pthread_t()
    let copy = strdup(path)
    pthread_create(
        &thread, nil,
        { path in
            if let path { try? authorize(String(cString: path.assumingMemoryBound(to: CChar.self))) }
            return nil
        }, copy)
    pthread_join(thread, nil)
    free(copy)
}

private func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Like a program's handler: it gets the fault's address, and ends the process in its own way.
private func installHandler() {
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { _, info, _ in
        say("the program's handler, at address \(UInt(bitPattern: info?.pointee._sifields._sigfault.si_addr))")
        _exit(42)
    }
    action.sa_flags = SA_SIGINFO
    sigaction(SIGSEGV, &action, nil)
}
