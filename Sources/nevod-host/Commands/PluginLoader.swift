import NevodHost

/// From `--plugin`, `--scheme` and `--set` to a scheme that authorises requests.
struct PluginLoader {
    let arguments: Arguments
    let console: Console

    func instance() throws -> SchemeInstance? {
        guard let name = arguments.value(.plugin) else {
            for flag in ["set": Flag.Name.set, "scheme": .scheme, "answer": .answer] where arguments.has(flag.value) {
                throw UsageError("--\(flag.key) needs a --plugin")
            }
            return nil
        }
        let plugin = try Plugin(named: name)
        let scheme = try plugin.scheme(arguments.value(.scheme))
        console.trace("*", "plugin \(plugin.name) \(plugin.version) from \(plugin.path), scheme \(scheme.id)")
        let settings = try SettingSource(scheme: scheme, console: console).settings(arguments.values(.set))
        let console = console
        return try scheme.makeInstance(
            settings: settings,
            log: { level, message in
                if level >= 3 {
                    console.warning("\(scheme.id): \(message)")
                } else {
                    console.trace("*", "\(scheme.id): \(message)")
                }
            })
    }
}
