import NevodPluginKit

/// Sends a key, its secret and the time as header lines.
struct AcmeKeysAuth: AuthScheme {
    static let id = "acme-keys"
    static let title = "A key, its secret and the time"

    @Setting("key", help: "Sent in X-Key") var key: String
    @Setting("secret", help: "Sent in X-Secret") var secret: Secret

    /// Runs once, after the settings are read: the place to check them together, and to derive keys.
    mutating func prepare() throws(SchemeError) {
        guard !key.isEmpty else { throw .badSetting("key", "must not be empty") }
    }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        edits.setHeader("X-Key", key)
        edits.setHeader("X-Secret", secret)
        edits.setHeader("X-Time", "\(request.unixSeconds)")
    }
}

private let plugin = PluginExport(AcmeKeysAuth.self, name: "AcmeKeysAuth", version: "0.1.0", vendor: "you")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
