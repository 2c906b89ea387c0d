import NevodHost

/// Suggests plugins of the plugin folders for a name that is not among them.
enum PluginSuggestion {
    /// Returns text for the end of an error; empty for a path, and if there are no plugins.
    static func hint(for error: any Error) -> String {
        guard let error = error as? PluginError, case .notFound = error.reason, !error.plugin.contains("/") else { return "" }
        return hint(for: error.plugin, among: PluginLocator.standard.shortNames)
    }

    static func hint(for name: String, among found: [String]) -> String {
        guard !found.isEmpty else { return "" }
        let near = Suggestions.hint(for: PluginLocator.shortName(of: name), among: found)
        return near.isEmpty ? "; found: \(found.prefix(most).joined(separator: ", "))" : near
    }

    /// More names would hide the error.
    private static let most = 20
}
