internal import CLinux
internal import Glibc
internal import NevodHost
internal import NevodPluginABI

extension CheckCatalogue {
    static let loadChecks: [Check] = [
        Check(
            "load.resolves", "The loader resolves each symbol at once", scope: .plugin,
            causes: ["static.libraries", "static.system-version"]
        ) { context in
            try trusted(context)
            let handle = context.during(.constructors) { dlopen(context.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
            guard handle == nil else { return .pass }
            return .fail(
                Finding(
                    expected: "dlopen with RTLD_NOW and RTLD_LOCAL succeeds.",
                    happened: "It says: \(LoadedLibrary.loaderMessage).",
                    fix:
                        "Link with each library that the plugin uses, and with -Wl,--no-undefined to find missing symbols when linking."
                ))
        },
        Check("load.same-table", "nevod_plugin_v1 returns the same table each time", scope: .plugin) { context in
            let library = try context.library()
            let again = context.during(.constructors) { dlopen(context.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
            guard again == library.handle else {
                return .fail(
                    Finding(
                        expected: "Loading it twice gives the same library.",
                        happened: "The second dlopen gave another library, or failed.",
                        fix: "Link without -z interpose and dlopen tricks in constructors."))
            }
            for call in 2...4 where context.during(.entryPoint, { library.entryPoint() }) != library.table {
                return .fail(
                    Finding(
                        expected: "Each call returns the same pointer, to a table that is valid until the process ends.",
                        happened: "Call \(call) returned another pointer than the first.",
                        fix: "Return the address of a static constant."))
            }
            return .pass
        },
        Check(
            "load.concurrent", "nevod_plugin_v1 can be called on several threads at once", scope: .plugin,
            causes: ["load.same-table"]
        ) { context in
            let library = try context.library()
            let calls = context.calls
            let entryPoint = library.entryPoint
            let tables = Threads.run(8) { _ in
                (0..<100).map { _ in UInt(bitPattern: calls.during(.entryPoint) { entryPoint() }) }
            }
            guard tables.joined().allSatisfy({ $0 == UInt(bitPattern: library.table) }) else {
                return .fail(
                    Finding(
                        expected: "8 threads get the same table.", happened: "They got different tables.",
                        fix: "Return the address of a static constant."))
            }
            return .pass
        },
        Check("load.quick", "Loading takes a moment", scope: .plugin) { context in
            try trusted(context)
            let start = nevod_monotonic_nanoseconds()
            _ = try context.library()
            let milliseconds = (nevod_monotonic_nanoseconds() - start) / 1_000_000
            guard milliseconds > 250 else { return .noted(milliseconds < 1 ? "less than 1 ms" : "\(milliseconds) ms") }
            return .warn(
                Finding(
                    expected: "Constructors and nevod_plugin_v1 do no work, since the library is loaded for each command.",
                    happened: "Loading took \(milliseconds) ms.", fix: "Do the work in create, or when it is first needed."))
        },
        unchanged(
            "load.threads", "No thread is left after loading", fix: "Start threads in create, and join them in destroy.",
            isGos: true
        ) { before, after in
            let count = after.threads.subtracting(before.threads).count
            return count == 0 ? nil : "\(count) threads were running after it was loaded."
        },
        unchanged(
            "load.descriptors", "No descriptor is opened or closed by loading",
            fix: "Open files in create, with O_CLOEXEC, and close them in destroy."
        ) { before, after in
            if let (number, target) = after.descriptors.first(where: { before.descriptors[$0.key] == nil }) {
                return "Descriptor \(number) is open after it was loaded: \(target)."
            }
            if let (number, target) = before.descriptors.first(where: { after.descriptors[$0.key] != $0.value }) {
                return "Descriptor \(number), \(target), is closed or replaced after it was loaded."
            }
            return nil
        },
        unchanged(
            "load.signals", "Signal handlers and the signal mask stay the host's",
            fix: "Leave signals alone; send to sockets with MSG_NOSIGNAL instead of ignoring SIGPIPE.", isGos: true
        ) { before, after in
            if let number = before.signals.keys.sorted().first(where: { before.signals[$0] != after.signals[$0] }) {
                return "The action of signal \(number) has changed."
            }
            return before.mask == after.mask ? nil : "The signal mask of the thread has changed."
        },
        unchanged("load.locale", "The locale stays the host's", fix: "Use newlocale and uselocale within a call.") {
            before, after in
            before.locale == after.locale ? nil : "The locale was \(before.locale), and is \(after.locale)."
        },
        unchanged(
            "load.environment", "The environment stays the host's",
            fix: "Don't call setenv, putenv or unsetenv: other threads read the environment at the same time."
        ) { before, after in
            // Shows only names, because values may be secrets.
            let name = { (entry: String) in String(entry.prefix { $0 != "=" }) }
            let changed = Set(before.environment).symmetricDifference(after.environment).map(name)
            return changed.min().map { "The variable \($0) has changed." }
        },
        unchanged(
            "load.working-directory", "The working directory and the umask stay the host's",
            fix: "Use absolute paths, and open files with the mode that they need."
        ) { before, after in
            if before.workingFolder != after.workingFolder { return "The working directory is \(after.workingFolder) now." }
            return before.fileMask == after.fileMask
                ? nil : "The umask was \(octal(before.fileMask)), and is \(octal(after.fileMask))."
        },
        unchanged("load.limits", "The limits of the process stay the host's", fix: "Don't call setrlimit.") { before, after in
            before.limits.keys.sorted().first { before.limits[$0] != after.limits[$0] }.map {
                "The limit number \($0) has changed (getrlimit)."
            }
        },
        unchanged(
            "load.rounding", "The rounding of floating-point numbers stays the host's",
            fix: "Don't call fesetround, and link without -ffast-math."
        ) { before, after in
            before.rounding == after.rounding ? nil : "The rounding mode has changed (fegetround)."
        },
        Check("load.silent", "Nothing is written to standard output or standard error by loading", scope: .plugin) { context in
            try trusted(context)
            let output = try CapturedOutput()
            _ = try? context.library()
            fflush(nil)
            let text = output.finish()
            guard !text.isEmpty else { return .pass }
            return .fail(
                Finding(
                    expected: "Standard output belongs to the body of the response, and standard error to the host.",
                    happened: "Loading wrote \(text.count) bytes: \(String(decoding: text.prefix(80), as: UTF8.self))",
                    fix: "Use log of nevod_host."))
        },
        Check(
            "load.without-network", "It loads even if no socket can be opened", scope: .plugin,
            causes: ["static.libraries", "static.system-version", "load.resolves"]
        ) { context in
            try trusted(context)
            guard nevod_refuse_sockets() == 0 else {
                return .skip("this system doesn't let a process give up its sockets (seccomp)")
            }
            let handle = context.during(.constructors) { dlopen(context.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
            guard handle != nil else {
                return .fail(
                    Finding(
                        expected: "Loading needs no network.",
                        happened: "Without sockets, it fails: \(LoadedLibrary.loaderMessage).",
                        fix: "Do no I/O in constructors."))
            }
            _ = try context.library()
            return .pass
        },
        Check("load.stays", "It survives dlclose", scope: .plugin, causes: ["load.same-table"]) { context in
            let library = try context.library()
            dlclose(library.handle)
            guard context.during(.entryPoint, { library.entryPoint() }) == library.table else {
                return .fail(
                    Finding(
                        expected: "The library stays in memory (RTLD_NODELETE).",
                        happened: "nevod_plugin_v1 returned another table after dlclose.",
                        fix: "Keep the table in a static constant, and free nothing in destructors."))
            }
            return .pass
        },
    ]

    /// The result for a change of the process: only a warning if the library contains Go's runtime, and that makes such changes
    /// itself.
    static func changed(_ finding: Finding, isGos: Bool, _ context: CheckContext) throws -> CheckResult {
        guard isGos, ELFTables(try context.file()).runtime == .go else { return .fail(finding) }
        return .warn(
            Finding(
                expected: finding.expected,
                happened: "\(finding.happened) Go's runtime starts threads and handles signals from the moment it is loaded.",
                fix:
                    "Nothing to do, unless the plugin's own code does so too: Go passes signals that it doesn't use on to the host."
            ))
    }

    /// Compares the state of the process before and after loading.
    ///
    /// - Parameter isGos: whether Go's runtime makes such changes.
    private static func unchanged(
        _ id: String, _ title: String, fix: String, isGos: Bool = false,
        _ compare: @escaping @Sendable (ProcessState, ProcessState) -> String?
    ) -> Check {
        Check(id, title, scope: .plugin) { context in
            try trusted(context)
            let before = ProcessState.current
            _ = try context.library()
            guard let difference = compare(before, ProcessState.current) else { return .pass }
            return try changed(Finding(expected: "\(title).", happened: difference, fix: fix), isGos: isGos, context)
        }
    }

    /// Skips a check if the host would refuse the file before running any of it.
    private static func trusted(_ context: CheckContext) throws {
        do throws(PluginError) { try Plugin.checkBeforeLoading(context.path) } catch {
            throw CheckStop.skip("the host doesn't load this file: \(error.explanation)")
        }
    }

    private static func octal(_ mode: mode_t) -> String { String(mode, radix: 8) }
}
