internal import CPluginCalls
internal import NevodPluginABI
internal import NevodSupport
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The record of a scheme, or of a library before its schemes are known, for the calls of its functions. Never
/// freed: calls on other threads, and a signal handler, may read it at any time.
final class CalledScheme: Sendable {
    let library: String
    /// Nil for a library.
    let id: String?
    /// Never freed.
    nonisolated(unsafe) let names: UnsafePointer<nevod_call_names>
    private let state = Locked(State())
    private let blocks: Atomic<Bool>

    private struct State {
        /// The log of the latest instance. (Not a weak reference to its services, whose table LeakSanitizer can't follow.)
        var latest: (owner: ObjectIdentifier, log: PluginLog)?
        var hasWarnedOfSink = false
    }

    private struct Key: Hashable, Sendable {
        let library: String
        /// The address of the table; 0 for a library.
        let table: UInt
        let id: String?
    }

    private static let all = Locked([Key: CalledScheme]())

    /// Returns the one of a library.
    static func of(library: String) -> CalledScheme { find(Key(library: library, table: 0, id: nil)) }

    /// Returns the one of a scheme, which all instances share, in however many ``Plugin`` values its library was loaded.
    static func of(library: String, _ table: UnsafePointer<nevod_scheme>, id: String) -> CalledScheme {
        find(
            Key(library: library, table: UInt(bitPattern: table), id: id),
            blocks: table.pointee.flags & UInt32(NEVOD_SCHEME_BLOCKS) != 0)
    }

    private static func find(_ key: Key, blocks: Bool = false) -> CalledScheme {
        all.withLock { all in
            if let known = all[key] { return known }
            let made = CalledScheme(library: key.library, id: key.id, blocks: blocks)
            all[key] = made
            return made
        }
    }

    private init(library: String, id: String?, blocks: Bool) {
        self.library = library
        self.id = id
        self.blocks = Atomic(blocks)
        let names = UnsafeMutablePointer<nevod_call_names>.allocate(capacity: 1)
        names.initialize(to: nevod_call_names(library: strdup(library), scheme: id.flatMap { strdup($0) }))
        self.names = UnsafePointer(names)
    }

    /// Remembers the latest instance, whose log receives a warning that belongs to no call in progress.
    func serve(_ services: HostServices) {
        let latest = (ObjectIdentifier(services), services.log)
        state.withLock { $0.latest = latest }
    }

    func forget(_ owner: ObjectIdentifier) {
        state.withLock { if $0.latest?.owner == owner { $0.latest = nil } }
    }

    /// Whether its calls run on the threads of ``SchemeWorkers``: it says that they may block, or one of them did.
    var mayBlock: Bool { blocks.load(ordering: .relaxed) }

    /// The longest time of a call, in nanoseconds, by a scheme that doesn't say that it blocks. Far above the contract's limit, so
    /// that a busy machine moves no scheme that keeps to it.
    static let longestCall: Int64 = 500_000_000

    /// Moves its calls to the threads of ``SchemeWorkers`` from now on, and warns of the first that took too long.
    ///
    /// - Parameters:
    ///   - function: the function that was called.
    ///   - time: in nanoseconds.
    ///   - hasReturned: false for a call that is still in progress.
    ///   - services: of the call; nil if they may be gone.
    func move(after function: String, _ time: Int64, hasReturned: Bool, _ services: HostServices?) {
        guard !blocks.exchange(true, ordering: .relaxed) else { return }
        guard let known = services?.log ?? state.withLock({ $0.latest?.log }) else { return }
        let warning =
            "\(library): the scheme \"\(id ?? "")\" \(hasReturned ? "took" : "has not returned for") \(time / 1_000_000) ms in \(function), "
            + "and doesn't say that it blocks (NEVOD_SCHEME_BLOCKS); its calls run on threads of their own from now on"
        let log: @Sendable () -> Void = { known(Int32(NEVOD_LOG_WARNING), warning) }
        // The log is the program's, and may block: the thread that looks for stuck calls must not wait for it.
        if hasReturned || !SystemThread.start(log) { log() }
    }

    /// Warns, once, that the scheme used a sink outside of the call that the sink was for.
    ///
    /// - Parameter services: of the call in progress; nil if there is none.
    func warn(ofSink function: StaticString, _ services: HostServices?) {
        let (isFirst, latest) = state.withLock { state in
            defer { state.hasWarnedOfSink = true }
            return (!state.hasWarnedOfSink, state.latest?.log)
        }
        guard isFirst, let log = services?.log ?? latest else { return }
        log(
            Int32(NEVOD_LOG_WARNING),
            "\(library): the scheme \"\(id ?? "")\" called \(function) outside of the call that the function was passed to; refused"
        )
    }
}
