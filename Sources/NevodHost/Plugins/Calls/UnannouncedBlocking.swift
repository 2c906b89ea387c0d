internal import NevodPluginABI
internal import NevodSupport
internal import Synchronization

/// Decides when a scheme that doesn't say that it blocks is treated like one that does.
extension CalledScheme {
    /// If a scheme doesn't say that it blocks, a call that takes longer than this, in nanoseconds, counts as stuck. Far above the
    /// contract's limit (`NEVOD_LIMIT_CALL_NS`), so that a scheme that respects the limit isn't moved on a busy machine.
    static let longestCall: Int64 = 500_000_000

    /// Moves the scheme's calls to the threads of ``SchemeWorkers`` from now on, and warns of the first call that took too long.
    ///
    /// - Parameters:
    ///   - function: the function that was called.
    ///   - time: how long the call took so far, in nanoseconds.
    ///   - hasReturned: false for a call that is still in progress.
    ///   - services: the call's services; nil if they may be gone.
    func move(after function: String, _ time: Int64, hasReturned: Bool, _ services: HostServices?) {
        guard !blocks.exchange(true, ordering: .relaxed) else { return }
        guard let known = services?.log ?? state.withLock({ $0.latest?.log }) else { return }
        let warning =
            "\(library): the scheme \"\(id ?? "")\" \(hasReturned ? "took" : "has not returned for") \(time / 1_000_000) ms in \(function), "
            + "and doesn't say that it blocks (NEVOD_SCHEME_BLOCKS); its calls run on threads of their own from now on"
        let log: @Sendable () -> Void = { known(Int32(NEVOD_LOG_WARNING), warning) }
        // The program's log may block, and the thread that looks for stuck calls must not wait for it.
        if hasReturned || !SystemThread.start(log) { log() }
    }

    /// Whether the scheme's calls run on the threads of ``SchemeWorkers``, because the scheme says that they may block, or
    /// because one did.
    var mayBlock: Bool { blocks.load(ordering: .relaxed) }
}
