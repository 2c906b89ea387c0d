import NevodPluginKit
import NevodPluginTesting
import Testing

/// The scheme under test. An author has it in the plugin's own target.
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

private let export = PluginExport(CustomHeader.self, name: "CustomHeader", version: "1.0.0", vendor: "Example")

struct CustomHeaderTests {
    private let plugin = TestedPlugin(export.table)

    @Test func `Both headers are sent`() throws {
        let scheme = try plugin.scheme("custom-header", settings: ["client-id": "me", "client-secret": "s"])
        let signed = try scheme.authorize(TestRequest("GET", "https://api.example.com/orders", headers: ["Accept": "*/*"]))
        #expect(signed.headers["X-Client-ID"] == "me")
        #expect(signed.headers["X-Client-Secret"] == "s")
        #expect(signed.edits == ["header X-Client-ID", "header X-Client-Secret"])
    }

    @Test func `The secret is required`() {
        let failure = #expect(throws: TestFailure.self) { try plugin.scheme(settings: ["client-id": "me"]) }
        #expect(failure?.description == #"the setting "client-secret" is required"#)
    }
}
