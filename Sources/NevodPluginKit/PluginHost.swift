internal import NevodPluginABI

/// The host that created a scheme. To find out about it, give the scheme a property:
///
/// ```swift
/// let host = PluginHost()
/// ```
public struct PluginHost: Sendable {
    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let host: UnsafePointer<nevod_host>?

    /// Refers to the host that is creating the scheme.
    public init() {
        host = SettingsReader.current?.host
    }

    /// The host's name: `NevodHost`. Empty while a host only reads declarations.
    public var name: String { host?.pointee.name.string ?? "" }

    /// The host's own version: `0.2.0`.
    public var version: String { host?.pointee.version.string ?? "" }

    /// The minor version of the contract that the host serves.
    public var contractMinorVersion: Int { host.map { Int($0.pointee.abi_minor) } ?? 0 }

    /// An optional service of the host, by name and revision (`nevod.something/1`). Its own documentation gives its layout. Nil if
    /// the host has no service of that name. Valid for the life of the scheme. ``PublicSuffixes`` uses such a service.
    public func service(_ name: StaticString) -> UnsafeRawPointer? {
        guard let host, let find = host.pointee.get_extension else { return nil }
        return find(host.pointee.host, nevod_bytes(name))
    }
}

/// The host's log. To write to it, give the scheme a property, and call it in `prepare`, `authorize`, `respond` and flows:
///
/// ```swift
/// let log = HostLog()
///
/// func authorize(_ request: borrowing RequestView, _ edits: Edits) {
///     log(.debug, "signs with the key \(keyID)")
/// }
/// ```
///
/// The command line shows it with `-v`. The host replaces the values of secret settings in a line. It can't recognize other
/// secrets, such as a token, so a line must not contain any.
public struct HostLog: Sendable {
    /// The importance of a line.
    public enum Level: Int32, CaseIterable, Sendable {
        /// For the author of the scheme.
        case debug = 1
        /// Information for the user.
        case info = 2
        /// Something that should be changed, though it works.
        case warning = 3
        /// Something that doesn't work and isn't thrown as an error.
        case error = 4
    }

    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let host: UnsafePointer<nevod_host>?

    /// Refers to the log of the host that is creating the scheme.
    public init() {
        host = SettingsReader.current?.host
    }

    /// Writes a line. A line of more than 1,024 bytes is cut.
    public func callAsFunction(_ level: Level, _ text: String) {
        guard let host, let log = host.pointee.log else { return }
        withBytes(text) { log(host.pointee.host, level.rawValue, $0) }
    }
}

/// The host's list of domains under which anybody can register a name, such as `com` and `co.uk` (publicsuffix.org). A scheme that
/// stores cookies has a property:
///
/// ```swift
/// let publicSuffixes = PublicSuffixes()
/// ```
public struct PublicSuffixes: Sendable {
    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let table: UnsafePointer<nevod_public_suffix>?

    /// Looks up the list of the host that is creating the scheme.
    public init() {
        guard let host = SettingsReader.current?.host, let find = host.pointee.get_extension else {
            table = nil
            return
        }
        let found = find(host.pointee.host, nevod_bytes("nevod.public-suffix/1"))
        table = found?.assumingMemoryBound(to: nevod_public_suffix.self)
    }

    /// Whether a domain is a public suffix.
    ///
    /// - Parameter domain: in lower case, without a leading dot; an international name in its ASCII form.
    /// - Returns: nil if this host has no list; then treat every domain as a public suffix.
    public func contains(_ domain: String) -> Bool? {
        guard let table, let isPublic = table.pointee.is_public else { return nil }
        return withBytes(domain) { isPublic(table.pointee.host, $0) } != 0
    }
}
