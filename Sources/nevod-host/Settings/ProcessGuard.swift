import CLinux
import Glibc

/// Keeps what this process holds to itself.
enum ProcessGuard {
    /// Call before a secret is read. No core file is written, no crash prints memory, and no process of the same user can look
    /// into this one's memory or trace it (prctl(2), PR_SET_DUMPABLE).
    static func close() {
        _ = nevod_make_undumpable()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // Swift's runtime would print registers, and the memory that they point to.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }
}
