import CLinux
import Glibc

/// Protects the memory of this process.
enum ProcessGuard {
    /// Disables core files, crash reports with memory contents, and access by other processes of the same user to this process's
    /// memory (prctl(2), PR_SET_DUMPABLE). Call before a secret is read, and before handlers of our own are installed.
    static func harden() {
        _ = nevod_make_undumpable()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // Swift's crash handler would print registers and the memory that they point to.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }
}
