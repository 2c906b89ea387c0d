internal import NevodPluginABI

/// The status that a plugin's function returned. An unknown one counts as ``internal``.
public enum PluginStatus: Int32, Sendable {
    /// The call succeeded (NEVOD_OK).
    case ok = 0
    /// The user must change a setting (NEVOD_BAD_SETTINGS).
    case badSettings = 1
    /// The stored token is invalid; a login is needed (NEVOD_BAD_TOKEN).
    case badToken = 2
    /// The server refused permanently (NEVOD_DENIED).
    case denied = 3
    /// The failure is temporary (NEVOD_UNAVAILABLE).
    case unavailable = 4
    /// The scheme can't do this (NEVOD_UNSUPPORTED).
    case unsupported = 5
    /// A fault in the plugin itself (NEVOD_INTERNAL).
    case `internal` = 6
}
