import CLinux
import Glibc
import NevodSupport

/// Protects this process's memory.
enum ProcessGuard {
    /// Disables core files, and access to this process's memory by other processes of the same user (prctl(2), PR_SET_DUMPABLE),
    /// unless `--debuggable` is among the words. Always disables crash reports with memory contents. Call before a secret is
    /// read, and before our own handlers are installed.
    ///
    /// The words are not parsed yet. If a word only looks like the flag, ``check(_:)`` protects the process later.
    static func harden(_ words: [[UInt8]]) {
        if !words.contains(Array("--debuggable".utf8)) { close() }
        // Swift's crash handler would print registers, and the memory they point to.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// Refuses `--debuggable` where it would expose stored sessions, unless it was given twice. Protects a process without the
    /// flag.
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
        // Keeps the hard limit: a program that `run` starts gets the old limit back.
        var none = rlimit(rlim_cur: 0, rlim_max: InheritedState.captured?.coreLimit.rlim_max ?? 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}

/// The state that this process inherited, before it changed any of it: signals, open descriptors, the limit of core files. A
/// program that `run` executes in its place gets the same state.
struct InheritedState: Sendable {
    private let ignored: Set<Int32>
    private let blocked: sigset_t
    private let descriptors: Set<Int32>
    let coreLimit: rlimit

    private static let state = Locked<InheritedState?>(nil)

    /// Nil if the command doesn't need it.
    static var captured: InheritedState? { state.withLock(\.self) }

    /// Captures the state. Call before anything is opened, and before any signal is handled. Only `run` pays for it.
    static func capture(_ words: [[UInt8]]) {
        guard words.contains(where: { $0.elementsEqual(Command.run.rawValue.utf8) }) else { return }
        let found = InheritedState()
        state.withLock { $0 = found }
    }

    private init() {
        ignored = Set(Self.signals.filter(Self.isIgnored))
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        blocked = mask
        descriptors = Set(Self.openDescriptors())
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        coreLimit = limit
    }

    /// Restores the state. Our own descriptors close only when the program is executed.
    func restore() {
        for number in Self.signals { signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL) }
        for number in Self.openDescriptors() where !descriptors.contains(number) {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
        var limit = coreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// The signals below the real-time ones that can be handled.
    private static let signals = (1...31).map(Int32.init).filter { $0 != SIGKILL && $0 != SIGSTOP }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private static func openDescriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var numbers: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let number = Int32(name), number != dirfd(folder) { numbers.append(number) }
        }
        return numbers
    }
}
