internal import NevodPluginABI
internal import NevodSupport

/// The scheme and the servers that a token was issued for. The token is invalid for any others, and must not be shown to them.
package struct TokenPurpose: Sendable, Hashable {
    /// The name that the plugin gives itself.
    package let plugin: String
    package let scheme: String
    /// The origins of the settings, which the flows send to; sorted.
    package let origins: [String]
}

extension SchemeInstance {
    /// Returns the error for a stored token that was issued for another scheme or server.
    func foreign(_ token: PluginToken) -> PluginError {
        let origins = token.purpose.origins.joined(separator: ", ")
        return PluginError(
            scheme.plugin, failed: .tokenCheck, of: scheme.id, status: Int32(NEVOD_BAD_TOKEN),
            message:
                "it was issued for \(token.purpose.scheme) of \(token.purpose.plugin)\(origins.isEmpty ? "" : " at \(origins)")")
    }
}

extension SchemeInstance {
    /// The default key of its stored token.
    var tokenKey: StorageKey {
        let origins = purpose.origins.isEmpty ? "" : "@\(purpose.origins.joined(separator: ","))"
        return StorageKey(value: "nevod.scheme.\(purpose.plugin).\(purpose.scheme)\(origins);\(settingsDigest)")
    }
}
