internal import NevodPluginABI

/// A scheme's entry in the table of a plugin, which the kit makes of the scheme's type; authors have no use for it.
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
