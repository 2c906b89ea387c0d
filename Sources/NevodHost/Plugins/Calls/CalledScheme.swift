internal import CPluginCalls
internal import NevodPluginABI
internal import NevodSupport
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The record of a scheme whose functions are called, or of a library whose schemes aren't known yet. Never freed: calls on other
/// threads, and a signal handler, may read it at any time.
final class CalledScheme: Sendable {
    let library: String
    /// Nil for a library.
    let id: String?
    /// Never freed.
    nonisolated(unsafe) let names: UnsafePointer<nevod_call_names>
    let state = Locked(State())
    let blocks: Atomic<Bool>

    struct State {
        /// The log of the latest instance. (A weak reference to the instance's services wouldn't do: LeakSanitizer can't follow
        /// it to their table.)
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

    /// Returns the record of a library.
    static func of(library: String) -> CalledScheme { find(Key(library: library, table: 0, id: nil)) }

    /// Returns the record of a scheme. All its instances share it, even if several ``Plugin`` values loaded the library.
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

    /// Remembers the latest instance. Its log receives the warnings that belong to no call in progress.
    func serve(_ services: HostServices) {
        let latest = (ObjectIdentifier(services), services.log)
        state.withLock { $0.latest = latest }
    }

    func forget(_ owner: ObjectIdentifier) {
        state.withLock { if $0.latest?.owner == owner { $0.latest = nil } }
    }

    /// Warns, once, that the scheme used a sink outside the call that the sink was for.
    ///
    /// - Parameter services: the services of the call in progress; nil if there is none.
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
