internal import CPluginCalls

/// Names the plugin when the process ends during one of its calls.
public enum PluginCrashReport {
    /// From now on, reports how a plugin ends the process, in one line on standard error, such as
    /// `myprogram: libfoo.so crashed in authorize of its scheme "foo" (SIGSEGV at address 0x0)`.
    ///
    /// - A crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS), `abort`, an overflow of the stack, or an exception that
    ///   leaves a call: after the line, the signal goes to the handler that was installed before, or ends the process by the
    ///   default action. So debuggers, sanitizers, core files and the parent process see the same as without the report. A
    ///   handler that is installed later replaces the report, unless it calls the earlier one in turn.
    /// - `exit` and `quick_exit` during a call, even with status 0: the process ends with `exitStatus`, after its exit handlers.
    ///   `_exit` can't be caught.
    /// - `pthread_exit` during a call ends the process in the same way: the thread was the host's. (On a thread of Swift's own
    ///   pool it is a crash, since the pool traps.)
    ///
    /// A signal outside of a plugin's call is passed on without a line, unless it occurs in a plugin's own code, for example on a
    /// thread that the plugin has started.
    ///
    /// The library doesn't install this by itself, since signal handlers belong to the program. Call it once, before threads
    /// start and after your own handlers are installed; only the first call counts. Each thread gets an alternate signal stack
    /// (sigaltstack(2), 64 KiB) at its first call of a plugin, if it has none. On systems other than Linux, it does nothing.
    ///
    /// - Parameters:
    ///   - program: the first word of the line; nil for the name of the running program.
    ///   - exitStatus: the status of a process that a plugin ends; 70 is "internal software error" of sysexits.h.
    public static func install(program: String? = nil, exitStatus: Int32 = 70) {
        install(program: program, exitStatus: exitStatus, neverExits: false)
    }

    /// - Parameter neverExits: whether the program ends only by `_exit` or a signal, so that every call of `exit` is a plugin's.
    package static func install(program: String?, exitStatus: Int32, neverExits: Bool) {
        if let program {
            nevod_crash_report_install(program, exitStatus, neverExits ? 1 : 0)
        } else {
            nevod_crash_report_install(nil, exitStatus, neverExits ? 1 : 0)
        }
    }

    /// Lets the report name a library that crashes on a thread of its own, by the address of the code.
    static func add(_ library: String, containing symbol: UnsafeRawPointer) {
        nevod_crash_report_add_library(symbol, CalledScheme.of(library: library).names.pointee.library)
    }
}
