/// The scheme and the servers that a token was issued for. It is invalid for any other, and must not be shown to them.
package struct TokenPurpose: Sendable, Hashable {
    /// The name that the plugin gives itself.
    package let plugin: String
    package let scheme: String
    /// The origins of the settings, which the flows send to; sorted.
    package let origins: [String]
}
