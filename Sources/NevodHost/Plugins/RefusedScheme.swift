/// A scheme of a plugin that this host can't use, because it needs something that only a newer host has.
public struct RefusedScheme: Sendable {
    /// The scheme's id.
    public let id: String
    /// The reason, which names what the scheme needs.
    public let reason: PluginError
}
