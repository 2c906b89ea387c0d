internal import NevodPluginKit

/// How a token is obtained (RFC 6749 §1.3, and those that other documents add).
enum Grant: String, CaseIterable, SettingValue {
    /// Authorization code with PKCE (RFC 6749 §4.1, RFC 7636): a person logs in with a browser.
    case code
    /// A user's name and password (RFC 6749 §4.3). Legacy: RFC 9700 §2.4 forbids it.
    case password
}
