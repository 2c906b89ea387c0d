@_exported public import NevodPluginABI
@_exported public import NevodSupport

/// The table that a plugin's one exported function returns. A global creates it once:
///
/// ```swift
/// private let plugin = PluginExport(CustomHeader.self, name: "CustomHeader", version: "1.0.0", vendor: "Example")
/// @c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
/// ```
public struct PluginExport: Sendable {
    // Written only in init. The host reads it until the process ends.
    /// The table that `nevod_plugin_v1` returns; never freed.
    public nonisolated(unsafe) let table: UnsafePointer<nevod_plugin>

    private init(_ schemes: [SchemeTable], _ name: String, _ version: String, _ vendor: String) {
        table = immortal([
            nevod_plugin(
                struct_size: UInt32(MemoryLayout<nevod_plugin>.size),
                abi_major: NEVOD_ABI_MAJOR, abi_draft: NEVOD_ABI_DRAFT,
                abi_minor: 0, schemes: immortal(schemes.map { UnsafePointer<nevod_scheme>?($0.table) }),
                scheme_count: UInt32(schemes.count), reserved: 0,
                name: nevod_bytes(immortal: name), version: nevod_bytes(immortal: version),
                vendor: nevod_bytes(immortal: vendor), get_extension: nil)
        ])
    }
}

// Overloads, because Embedded Swift lacks parameter packs.
extension PluginExport {
    /// Creates the table of a plugin with one scheme.
    ///
    /// - Parameters:
    ///   - scheme: the scheme's type. Other initialisers take up to six schemes, which must have distinct ids.
    ///   - name: the plugin's name in lists and messages.
    ///   - version: the plugin's version, in the vendor's format.
    ///   - vendor: the plugin's author; may be empty.
    public init(_ scheme: (some AuthScheme).Type, name: String, version: String, vendor: String) {
        self.init([scheme.schemeTable], name, version, vendor)
    }

    /// Creates the table of a plugin with two schemes.
    public init(
        _ first: (some AuthScheme).Type, _ second: (some AuthScheme).Type,
        name: String, version: String, vendor: String
    ) {
        self.init([first.schemeTable, second.schemeTable], name, version, vendor)
    }

    /// Creates the table of a plugin with three schemes.
    public init(
        _ first: (some AuthScheme).Type, _ second: (some AuthScheme).Type, _ third: (some AuthScheme).Type,
        name: String, version: String, vendor: String
    ) {
        self.init([first.schemeTable, second.schemeTable, third.schemeTable], name, version, vendor)
    }

    /// Creates the table of a plugin with four schemes.
    public init(
        _ first: (some AuthScheme).Type, _ second: (some AuthScheme).Type, _ third: (some AuthScheme).Type,
        _ fourth: (some AuthScheme).Type,
        name: String, version: String, vendor: String
    ) {
        self.init([first.schemeTable, second.schemeTable, third.schemeTable, fourth.schemeTable], name, version, vendor)
    }

    /// Creates the table of a plugin with five schemes.
    public init(
        _ first: (some AuthScheme).Type, _ second: (some AuthScheme).Type, _ third: (some AuthScheme).Type,
        _ fourth: (some AuthScheme).Type, _ fifth: (some AuthScheme).Type,
        name: String, version: String, vendor: String
    ) {
        self.init(
            [first.schemeTable, second.schemeTable, third.schemeTable, fourth.schemeTable, fifth.schemeTable], name, version,
            vendor)
    }

    /// Creates the table of a plugin with six schemes.
    public init(
        _ first: (some AuthScheme).Type, _ second: (some AuthScheme).Type, _ third: (some AuthScheme).Type,
        _ fourth: (some AuthScheme).Type, _ fifth: (some AuthScheme).Type, _ sixth: (some AuthScheme).Type,
        name: String, version: String, vendor: String
    ) {
        self.init(
            [first.schemeTable, second.schemeTable, third.schemeTable, fourth.schemeTable, fifth.schemeTable, sixth.schemeTable],
            name, version, vendor)
    }
}

/// Copies elements into memory that is never freed, for tables that live as long as the process.
func immortal<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = copy.initialize(from: elements)
    return UnsafePointer(copy.baseAddress.unsafelyUnwrapped)
}

/// A scheme's entry in the table of a plugin. The kit makes it from the scheme's type; authors don't need it.
public struct SchemeTable {
    let table: UnsafePointer<nevod_scheme>

    init<Scheme: AuthScheme>(of scheme: Scheme.Type) {
        let factory = SchemeFactory { given, host throws(SchemeError) in
            SchemeBox(try SettingsReader.make(Scheme.self, from: given, of: host))
        }
        table = immortal([SchemeExport.table(of: scheme, factory)])
    }

    init<Scheme: FlowScheme>(flowsOf scheme: Scheme.Type) {
        let factory = SchemeFactory { given, host throws(SchemeError) in
            SchemeBox(flowsOf: try SettingsReader.make(Scheme.self, from: given, of: host))
        }
        var table = SchemeExport.table(of: scheme, factory)
        if scheme.isInteractive { table.flags |= UInt32(NEVOD_SCHEME_INTERACTIVE) }
        table.token_decode = FlowExport.decode
        table.token_free = FlowExport.free
        table.flow_begin = FlowExport.begin
        table.flow_step = FlowExport.step
        table.flow_free = FlowExport.end
        self.table = immortal([table])
    }
}
