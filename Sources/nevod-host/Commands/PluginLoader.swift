import NevodHost
import NevodPluginTesting

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

    /// Loads a plugin with a proxy in front of it, which gives it other inputs than the host does, or records its calls.
    private func load(_ name: String, _ fixed: FixedInputs) throws -> Plugin {
        PluginCrashReport.install(program: "nevod-host", exitStatus: ExitCode.plugin, neverExits: true)
        var options = PluginProxy.Options()
        options.unixTime = fixed.unixTime
        options.random = fixed.random
        if let target = arguments.recording { options.record = try CallRecorder.start(target, console).record }
        let plugin = try Plugin(named: name) { table in
            UnsafeRawPointer(PluginProxy(table.assumingMemoryBound(to: nevod_plugin.self), options).table)
        }
        if arguments.recording != nil { try CallRecorder.identify(plugin) }
        return plugin
    }

    /// Returns nil without `--plugin`.
    func scheme() throws -> LoadedScheme? {
        guard let name = arguments.value(.plugin) else {
            for flag in Flag.all where flag.needsPlugin && arguments.has(flag.name) {
                throw UsageError("--\(flag.long) needs a --plugin")
            }
            return nil
        }
        // Before a setting is read or asked for.
        try CredentialScope(arguments).check()
        let fixed = try FixedInputs(arguments)
        let plugin = try fixed.isEmpty && arguments.recording == nil ? Self.load(name) : load(name, fixed)
        let scheme = try plugin.scheme(arguments.value(.scheme))
        console.trace("*", "plugin \(plugin.name) \(plugin.version) from \(plugin.path), scheme \(scheme.id)")
        let given = try SigningSettings(arguments, of: scheme).replacing(arguments.values(.set))
        let (settings, places) = try SettingSource(scheme: scheme, console: console).settings(given)
        let (console, explains) = (console, arguments.has(.explain))
        let instance: SchemeInstance
        do throws(PluginError) {
            instance = try scheme.makeInstance(settings: settings, clock: fixed.clock) { level, message in
                if explains, level == 2, PluginLogOrigin.isAuthorize { return console.step(message) }
                console.log(plugin.name, level, message)
            }
        } catch { throw places.naming(error) }
        return LoadedScheme(instance: instance, settings: settings)
    }
}

/// A scheme and the settings given for it.
struct LoadedScheme {
    let instance: SchemeInstance
    let settings: SchemeSettings
}
