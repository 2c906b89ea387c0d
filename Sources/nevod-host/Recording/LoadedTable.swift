import NevodHost
import NevodPluginTesting
import NevodSupport

/// The table of a plugin that has passed the host's checks, for calls without the host.
struct LoadedTable {
    let plugin: Plugin
    let table: UnsafePointer<nevod_plugin>

    /// - Parameter path: or a bare name.
    init(path: String) throws {
        PluginCrashReport.install(program: "nevod-host", exitStatus: ExitCode.plugin, neverExits: true)
        let found = Locked<UInt>(0)
        plugin = try Plugin(named: path) { table in
            found.withLock { $0 = UInt(bitPattern: table) }
            return table
        }
        guard let table = UnsafePointer<nevod_plugin>(bitPattern: found.withLock { $0 }) else {
            throw UsageError("\(path) has no table")
        }
        self.table = table
    }
}
