import NevodPluginKit

struct CustomHeader: AuthScheme {
    static let id = "custom-header"
    static let title = "Two fixed headers"

    @Setting("client-id", help: "Sent in X-Client-ID") var clientID: String
    @Setting("client-secret", help: "Sent in X-Client-Secret") var clientSecret: Secret

    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        edits.setHeader("X-Client-ID", clientID)
        edits.setHeader("X-Client-Secret", clientSecret)
    }
}

private let plugin = PluginExport(CustomHeader.self, name: "CustomHeader", version: "1.0.0", vendor: "Example")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
