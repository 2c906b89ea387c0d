internal import NevodPluginABI

/// What a function of a plugin returned.
public enum PluginStatus: Int32, Sendable {
    /// Done.
    case ok = 0
    /// The statuses that the contract calls NEVOD_BAD_SETTINGS to NEVOD_INTERNAL, in its order: the user must change a setting;
    /// the stored token is of no use; the server refused for good; a failure that passes; the scheme can't do that; a fault of
    /// the plugin.
    case badSettings, badToken, denied, unavailable, unsupported, `internal`

    static func name(_ status: Int32) -> String {
        switch PluginStatus(rawValue: status) {
        case .ok: "ok"
        case .badSettings: "bad settings"
        case .badToken: "bad token"
        case .denied: "denied"
        case .unavailable: "unavailable for now"
        case .unsupported: "unsupported"
        case .internal: "a fault of the plugin"
        case nil: "status \(status), which the contract doesn't know"
        }
    }
}
