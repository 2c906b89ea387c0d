@_exported public import NevodPluginABI
@_exported public import NevodSupport

/// The table that a plugin's one exported function returns. A global creates it once:
///
/// ```swift
/// private let plugin = PluginExport(CustomHeader.self, name: "CustomHeader", version: "1.0.0", vendor: "Example")
/// @c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
/// ```
public struct PluginExport: Sendable {
    // Written only in init; the host reads it as long as the process lives.
    /// The table that `nevod_plugin_v1` returns; never freed.
    public nonisolated(unsafe) let table: UnsafePointer<nevod_plugin>

    /// Creates the table.
    ///
    /// - Parameters:
    ///   - schemes: at least one, with distinct ids.
    ///   - name: the plugin's name in lists and messages.
    ///   - version: the plugin's version, in the vendor's format.
    ///   - vendor: the plugin's author; may be empty.
    public init<each Scheme: AuthScheme>(
        _ schemes: repeat (each Scheme).Type, name: String, version: String, vendor: String
    ) {
        var tables: [UnsafePointer<nevod_scheme>?] = []
        for scheme in repeat each schemes { tables.append(SchemeExport.table(of: scheme)) }
        table = immortal([
            nevod_plugin(
                struct_size: UInt32(MemoryLayout<nevod_plugin>.size),
                abi_major: NEVOD_ABI_MAJOR, abi_draft: NEVOD_ABI_DRAFT,
                abi_minor: 0, schemes: immortal(tables), scheme_count: UInt32(tables.count), reserved: 0,
                name: nevod_bytes(immortal: name), version: nevod_bytes(immortal: version),
                vendor: nevod_bytes(immortal: vendor), get_extension: nil)
        ])
    }
}

/// Copies elements into memory that is never freed, for tables that live as long as the process.
func immortal<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = copy.initialize(from: elements)
    return UnsafePointer(copy.baseAddress.unsafelyUnwrapped)
}
