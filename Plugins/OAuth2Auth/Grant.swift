internal import NevodPluginKit

/// How a token is obtained (RFC 6749 §1.3, and those that other documents add).
enum Grant: String, CaseIterable, SettingValue {
    /// Authorization code with PKCE (RFC 6749 §4.1, RFC 7636): a person logs in with a browser.
    case code
    /// Device authorization (RFC 8628): a person enters a code on another device.
    case device
}
