internal import NevodPluginABI

/// The status that a plugin's function returned.
public enum PluginStatus: Int32, Sendable {
    /// Success.
    case ok = 0
    /// NEVOD_BAD_SETTINGS to NEVOD_INTERNAL, in the contract's order: a setting must be changed; the stored token is unusable;
    /// the server refused permanently; the failure is temporary; the scheme doesn't support the operation; the plugin has a
    /// fault.
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
