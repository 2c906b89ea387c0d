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

    /// Loads a plugin, and installs the handlers that name it if it crashes. A command without a plugin needs no such handlers.
    static func load(_ name: String) throws -> Plugin {
        PluginCrashReport.install(program: "nevod-host", exitStatus: ExitCode.plugin, neverExits: true)
        return try Plugin(named: name)
    }

    /// Loads a plugin through a proxy that gives it fixed inputs in place of the host's, or records its calls.
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
        // Checks the origins before a setting is read or asked for.
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
        let parameters = try SchemeParameters(arguments)
        try scheme.checkNames(of: parameters)
        // A logout ends the session for all parameters.
        let suffix = arguments.command == .logout ? "" : try instance.keySuffix(for: parameters)
        return LoadedScheme(instance: instance, parameters: parameters, keySuffix: suffix)
    }
}

/// A scheme with its settings, and the parameters of its requests.
struct LoadedScheme: Sendable {
    let instance: SchemeInstance
    let parameters: SchemeParameters
    /// The suffix of the key under which the session for these parameters is stored; empty without parameters.
    let keySuffix: String

    /// Returns the interceptor of a scheme without a login: its settings are its credential.
    ///
    /// - Parameter session: the transport of the requests.
    func interceptor(_ session: CurlSession) -> any RequestInterceptor {
        // Only a scheme that sees responses needs a session. Making one costs a short process a twelfth of its instructions.
        instance.authorizesAlone
            ? TokenInterceptor(instance.token)
            : SchemeSession(instance, storage: InMemoryStorage(), session: session).interceptor
    }
}

extension SchemeParameters {
    /// The parameters of `--param`. Splits by bytes, as `--set` does.
    init(_ arguments: Arguments) throws(UsageError) {
        self.init()
        for text in arguments.values(.param) {
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.utf8.startIndex else {
                throw UsageError("--param needs a name and a value: --param NAME=VALUE")
            }
            add(String(text[..<equals]), String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self))
        }
    }
}
