internal import NevodPluginABI

/// The domains under which anybody can register one, such as `com` and `co.uk` (publicsuffix.org), as the host knows them. A
/// scheme that keeps cookies has one as a property:
///
/// ```swift
/// let publicSuffixes = PublicSuffixes()
/// ```
public struct PublicSuffixes: Sendable {
    // The host keeps it until the instance is destroyed, and any thread may ask.
    private nonisolated(unsafe) let table: UnsafePointer<nevod_public_suffix>?

    /// What the host offers to the scheme that is being made.
    public init() {
        guard let host = SettingsReader.current?.host, let find = host.pointee.get_extension else {
            table = nil
            return
        }
        let found = find(host.pointee.host, nevod_bytes("nevod.public-suffix/1"))
        table = found?.assumingMemoryBound(to: nevod_public_suffix.self)
    }

    /// - Parameter domain: lower case, an international name in its ASCII form, without a leading dot.
    /// - Returns: nil: this host has no list. Take any domain for a public suffix then.
    public func contains(_ domain: String) -> Bool? {
        guard let table, let isPublic = table.pointee.is_public else { return nil }
        return withBytes(domain) { isPublic(table.pointee.host, $0) } != 0
    }
}
