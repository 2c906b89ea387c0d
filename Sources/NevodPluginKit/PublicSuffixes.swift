internal import NevodPluginABI

/// The host's list of domains under which anybody can register a name, such as `com` and `co.uk` (publicsuffix.org). A scheme that
/// stores cookies has it as a property:
///
/// ```swift
/// let publicSuffixes = PublicSuffixes()
/// ```
public struct PublicSuffixes: Sendable {
    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let table: UnsafePointer<nevod_public_suffix>?

    /// Looks up the list that the host offers to the scheme being created.
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
    /// - Parameter domain: in lower case, an international name in its ASCII form, without a leading dot.
    /// - Returns: nil if this host has no list; then treat every domain as a public suffix.
    public func contains(_ domain: String) -> Bool? {
        guard let table, let isPublic = table.pointee.is_public else { return nil }
        return withBytes(domain) { isPublic(table.pointee.host, $0) } != 0
    }
}
