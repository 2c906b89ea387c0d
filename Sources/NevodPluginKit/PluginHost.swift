internal import NevodPluginABI

/// The host that created a scheme. A scheme that wants to know it has it as a property:
///
/// ```swift
/// let host = PluginHost()
/// ```
public struct PluginHost: Sendable {
    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let host: UnsafePointer<nevod_host>?

    /// Looks at the host of the scheme being created.
    public init() {
        host = SettingsReader.current?.host
    }

    /// The host's name: `NevodHost`. Empty while a host only reads declarations.
    public var name: String { host?.pointee.name.string ?? "" }

    /// The host's own version: `0.2.0`.
    public var version: String { host?.pointee.version.string ?? "" }

    /// The minor version of the contract that the host serves.
    public var contractMinorVersion: Int { host.map { Int($0.pointee.abi_minor) } ?? 0 }

    /// An optional service of the host by name and revision (`nevod.something/1`), whose own documentation gives its layout; nil if the
    /// host has none of that name. Valid as long as the scheme. ``PublicSuffixes`` is one.
    public func service(_ name: StaticString) -> UnsafeRawPointer? {
        guard let host, let find = host.pointee.get_extension else { return nil }
        return find(host.pointee.host, nevod_bytes(name))
    }
}
