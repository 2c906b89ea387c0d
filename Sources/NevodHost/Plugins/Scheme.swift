internal import NevodPluginABI

/// An authentication scheme that a plugin offers.
public struct Scheme: Sendable {
    /// The path of its library.
    public let plugin: String
    /// As the plugin calls itself, ``Plugin/name``. Stored tokens are its own by this name, whatever file a newer version is in.
    public let pluginName: String
    /// What ``Plugin/scheme(_:)`` finds it by, `hmac` for one; unique in its plugin.
    public let id: String
    /// For people, in a list of schemes.
    public let title: String
    /// In the order in which the scheme declares them.
    public let settings: [SchemeSetting]
    /// The contract lets it live as long as the process and never change.
    nonisolated(unsafe) let table: UnsafePointer<nevod_scheme>

    init(
        plugin: String, pluginName: String, table: UnsafePointer<nevod_scheme>, id: String, title: String,
        settings: [SchemeSetting]
    ) {
        self.plugin = plugin
        self.pluginName = pluginName
        self.table = table
        self.id = id
        self.title = title
        self.settings = settings
    }

    /// Whether it obtains its tokens by flows, as with a login. One without, HMAC for instance, has its credential in its
    /// settings.
    public var hasFlows: Bool { table.pointee.flow_begin != nil }

    /// Whether its login asks a person; as the scheme says.
    public var isInteractive: Bool { table.pointee.flags & UInt32(NEVOD_SCHEME_INTERACTIVE) != 0 }

    /// Checks the settings and makes an instance of them.
    ///
    /// - Parameters:
    ///   - settings: all that the scheme requires, and no others than it declares.
    ///   - target: whom its credential is for.
    ///   - clock: tells the scheme the time; tests have one that stands still.
    ///   - log: takes the lines that the plugin writes.
    public func makeInstance(
        settings: SchemeSettings = [:], target: SchemeTarget = .origin, clock: HostClock = .system,
        log: @escaping PluginLog = { _, _ in }
    ) throws(PluginError) -> SchemeInstance {
        try SchemeInstance(self, validated(settings), target: target, clock: clock, log: log)
    }
}
