internal import NevodPluginABI

/// An authentication scheme that a plugin offers.
public struct Scheme: Sendable {
    /// The path of the plugin's library.
    public let plugin: String
    /// The plugin's ``Plugin/name``. Stored tokens refer to this name, so they stay valid if the library's file is renamed.
    let pluginName: String
    /// The id by which ``Plugin/scheme(_:)`` finds it, such as `hmac`; unique in its plugin.
    public let id: String
    /// A title for people, in a list of schemes.
    public let title: String
    /// The settings, in the order in which the scheme declares them.
    public let settings: [SchemeSetting]
    /// The parameters that a caller may attach to a request, such as `scope`; declared and checked like settings.
    public let parameters: [SchemeSetting]
    /// Immutable and valid until the process ends, by the contract.
    nonisolated(unsafe) let table: UnsafePointer<nevod_scheme>
    /// Shared with all other values of this scheme in the process.
    let called: CalledScheme

    init(
        plugin: String, pluginName: String, table: UnsafePointer<nevod_scheme>, id: String, title: String,
        settings: [SchemeSetting], parameters: [SchemeSetting]
    ) {
        self.plugin = plugin
        self.pluginName = pluginName
        self.table = table
        self.id = id
        self.title = title
        self.settings = settings
        self.parameters = parameters
        called = CalledScheme.of(library: plugin, table, id: id)
    }

    /// Whether the scheme obtains its tokens by flows, such as a login. A scheme without flows, such as HMAC, has its credential
    /// in its settings.
    public var hasFlows: Bool { table.pointee.flow_begin != nil }

    /// Whether the scheme declares that its login asks a person.
    public var isInteractive: Bool { table.pointee.flags & UInt32(NEVOD_SCHEME_INTERACTIVE) != 0 }

    /// Whether the scheme declares that its functions may wait or take long. If so, they don't run on the thread that carries
    /// requests.
    public var blocks: Bool { table.pointee.flags & UInt32(NEVOD_SCHEME_BLOCKS) != 0 }

    /// Whether its functions may wait or take long, because the scheme says so, or because one of them did. The host then calls
    /// them on the threads of ``SchemeWorkers``, so that no other request waits for them.
    public var mayBlock: Bool { called.mayBlock }

    /// Checks the settings and makes an instance with them. Blocks as long as the scheme does, for instance while it derives a
    /// key or opens a smart card.
    ///
    /// - Parameters:
    ///   - settings: every setting that the scheme requires, and only settings that it declares.
    ///   - target: the recipient of the scheme's credential.
    ///   - clock: gives the scheme the time; tests pass one that doesn't move. If a server's `Date` fields show that its clock
    ///     differs by up to a day, the server's time is used instead.
    ///   - workers: the threads for the scheme's calls, if these may block.
    ///   - log: receives the lines that the plugin writes.
    public func makeInstance(
        settings: SchemeSettings = [:], target: SchemeTarget = .origin, clock: HostClock = .system,
        workers: SchemeWorkers = .shared, log: @escaping PluginLog = { _, _ in }
    ) throws(PluginError) -> SchemeInstance {
        try SchemeInstance(
            self, validated(settings), settingsDigest: settings.digest(self.settings), target: target, clock: clock,
            workers: workers, log: log)
    }
}

/// The recipient of a scheme's credential.
public enum SchemeTarget: Sendable, Hashable {
    /// The server that the request is for. The scheme's edits reach no other origin (RFC 6454).
    case origin
    /// The proxy on the way to the origin, if the transport uses one. The scheme writes only `Proxy-Authorization` (RFC 9110
    /// §11.7.2), which no origin ever sees.
    case proxy
}

extension SchemeTarget {
    var kind: Int32 { Int32(self == .proxy ? NEVOD_TARGET_PROXY : NEVOD_TARGET_ORIGIN) }

    /// The status of its challenges (RFC 9110 §15.5.2, §15.5.8).
    var challengeStatus: Int { self == .proxy ? 407 : 401 }

    /// Whether a response with this status comes from the target itself. A proxy is the source of a 407 that didn't come through
    /// a tunnel; it passes on all other responses from the origin.
    func isSource(ofStatus status: Int, for origin: Origin) -> Bool {
        self == .proxy ? status == 407 && origin.scheme == .http : status != 407
    }
}
