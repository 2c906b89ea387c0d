import NevodHost

/// Loads the scheme that `--plugin`, `--scheme` and `--set` describe.
struct PluginLoader {
    let arguments: Arguments
    let console: Console

    /// Returns the scheme for a command that needs one with a login.
    ///
    /// - Parameter command: the command's name, for errors.
    func scheme(_ command: String) throws -> LoadedScheme {
        guard let loaded = try scheme() else {
            throw UsageError("\(command) needs a --plugin, or a --profile that names one")
        }
        guard loaded.instance.scheme.hasFlows else {
            let scheme = loaded.instance.scheme
            throw UsageError("the scheme \"\(scheme.id)\" has no login: its settings are its credential")
        }
        return loaded
    }

    /// Loads a plugin, and names it if it crashes from now on. A command without a plugin leaves the signals alone.
    static func load(_ name: String) throws -> Plugin {
        PluginCrashReport.install(program: "nevod-host", exitStatus: ExitCode.plugin, neverExits: true)
        return try Plugin(named: name)
    }

    /// Returns nil without `--plugin`.
    func scheme() throws -> LoadedScheme? {
        guard let name = arguments.value(.plugin) else {
            for flag in Flag.all where flag.needsPlugin && arguments.has(flag.name) {
                throw UsageError("--\(flag.long) needs a --plugin")
            }
            return nil
        }
        let plugin = try Self.load(name)
        let scheme = try plugin.scheme(arguments.value(.scheme))
        console.trace("*", "plugin \(plugin.name) \(plugin.version) from \(plugin.path), scheme \(scheme.id)")
        let settings = try SettingSource(scheme: scheme, console: console).settings(arguments.values(.set))
        let console = console
        let instance = try scheme.makeInstance(
            settings: settings, log: { level, message in console.log(plugin.name, level, message) })
        return LoadedScheme(instance: instance, settings: settings)
    }
}

/// A scheme and the settings given for it.
struct LoadedScheme {
    let instance: SchemeInstance
    let settings: SchemeSettings
}
