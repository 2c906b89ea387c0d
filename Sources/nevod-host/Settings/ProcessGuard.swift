import CLinux
import Glibc

/// Protects the memory of this process.
enum ProcessGuard {
    /// Disables core files, unless `--debuggable` is among the words, crash reports with memory contents, and access by other processes of the same user to this process's
    /// memory (prctl(2), PR_SET_DUMPABLE). Call before a secret is read, and before handlers of our own are installed.
    ///
    /// The words are not parsed yet: ``check(_:)`` protects the process if one only looks like the flag.
    static func harden(_ words: [[UInt8]]) {
        if !words.contains(Array("--debuggable".utf8)) { close() }
        // Swift's crash handler would print registers and the memory that they point to.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// Refuses `--debuggable` where stored sessions are at stake, unless it was given twice; and protects a process without the flag.
    static func check(_ arguments: Arguments) throws(UsageError) {
        let count = arguments.typed.count { $0.name == .debuggable }
        guard count > 0 else { return close() }
        guard count == 1, !arguments.has(.noStore), ![.inspect, .replay].contains(arguments.command),
            ([arguments] + arguments.laterGroups).contains(where: { $0.has(.plugin) })
                || [.sessions, .store].contains(arguments.command), SessionStore.mayExist(arguments)
        else { return }
        throw UsageError(
            "--debuggable lets other programs read the sessions of the store that this command uses; give it twice, or --no-store, "
                + "or another --store")
    }

    private static func close() {
        _ = nevod_make_undumpable()
        // A program that `run` starts gets the limit back, which needs the hard one.
        var none = rlimit(rlim_cur: 0, rlim_max: InheritedState.captured?.coreLimit.rlim_max ?? 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
