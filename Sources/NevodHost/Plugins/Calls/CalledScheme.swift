internal import CPluginCalls
internal import NevodPluginABI
internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the host keeps about a scheme, or about a library before its schemes are known, for the calls of its functions. Never
/// freed: calls on other threads, and a signal handler, may read it at any time.
final class CalledScheme: Sendable {
    let library: String
    /// Nil for a library.
    let id: String?
    /// Never freed.
    nonisolated(unsafe) let names: UnsafePointer<nevod_call_names>
    private let state = Locked(State())

    private struct State {
        weak var services: HostServices?
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
        find(Key(library: library, table: UInt(bitPattern: table), id: id))
    }

    private static func find(_ key: Key) -> CalledScheme {
        all.withLock { all in
            if let known = all[key] { return known }
            let made = CalledScheme(library: key.library, id: key.id)
            all[key] = made
            return made
        }
    }

    private init(library: String, id: String?) {
        self.library = library
        self.id = id
        let names = UnsafeMutablePointer<nevod_call_names>.allocate(capacity: 1)
        names.initialize(to: nevod_call_names(library: strdup(library), scheme: id.flatMap { strdup($0) }))
        self.names = UnsafePointer(names)
    }

    /// Remembers the latest instance, whose log receives a warning that belongs to no call in progress.
    func serve(_ services: HostServices) {
        state.withLock { $0.services = services }
    }

    /// Warns, once, that the scheme used a sink outside of the call that the sink was for.
    ///
    /// - Parameter services: of the call in progress; nil if there is none.
    func warn(ofSink function: StaticString, _ services: HostServices?) {
        let (isFirst, latest) = state.withLock { state in
            defer { state.hasWarnedOfSink = true }
            return (!state.hasWarnedOfSink, state.services)
        }
        guard isFirst, let services = services ?? latest else { return }
        services.log(
            Int32(NEVOD_LOG_WARNING),
            "\(library): the scheme \"\(id ?? "")\" called \(function) outside of the call that the function was passed to; refused"
        )
    }
}
