import NevodPluginKit
import NevodSupport

@testable import NevodPluginTesting
@testable import OAuth2Auth

// Not the exported function: other plugins' tests have one of the same name in this program.
private let export = PluginExport(OAuth2Auth.self, name: "OAuth2Auth", version: "0.2.0", vendor: "NevodHost")

/// A scheme with the server `https://as.test` and the client `app`.
///
/// - Parameter settings: the last setting of a name counts, unless it is repeatable.
func makeClient(_ settings: KeyValuePairs<String, String> = [:]) throws(TestFailure) -> TestedScheme {
    var all = [
        ("token-url", "https://as.test/token"), ("authorization-url", "https://as.test/authorize"),
        ("device-url", "https://as.test/device"), ("client-id", "app"),
    ]
    all += settings.map { ($0.key, $0.value) }
    guard let scheme = ContractHost.schemes(of: export.table).first else { throw TestFailure("the plugin has no scheme") }
    return try TestedScheme(
        ContractHost(scheme, ContractHost.Options()), all, clock: .fixed(1_767_225_600), random: .repeating([0x2A]))
}

extension ScriptedServer.Step {
    static func token(containing parts: [String] = []) -> Self {
        .expect("POST", "/token", containing: parts, .json(["access_token": "A", "token_type": "Bearer", "expires_in": 60]))
    }
}
