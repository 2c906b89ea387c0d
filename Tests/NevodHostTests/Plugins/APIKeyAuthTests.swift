import NevodSupport
import Testing

@testable import NevodHost

/// The real libAPIKeyAuth.so. `SameBytesTests` has what it puts on the wire.
struct APIKeyAuthTests {
    private static let plugin = Result { try Plugin(named: "APIKeyAuth") }

    private func token(_ scheme: String, _ settings: SchemeSettings) throws -> PluginToken {
        try Self.plugin.get().scheme(scheme).makeInstance(settings: settings).token
    }

    @Test(arguments: [("Bearer", "Bearer k"), ("Token token =", "Token token = k"), ("", "k")])
    func `The key follows its prefix`(prefix: String, value: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        try token("api-key", ["key": .secret(Secret("k")), "header": "Authorization", "prefix": .text(prefix)])
            .authorize(&request)
        #expect(request.headers.values(of: "Authorization") == [value])
    }

    @Test(arguments: [
        ("api-key", "key", ["key": ""]), ("api-key", "header", ["key": "k", "header": ""]), ("api-key-query", "key", ["key": ""]),
        ("api-key-query", "parameter", ["key": "k", "parameter": ""]),
    ])
    func `Invalid settings are refused by name`(scheme: String, subject: String, values: [String: String]) throws {
        var settings = SchemeSettings()
        for (name, value) in values { settings.add(name, name == "key" ? .secret(Secret(value)) : .text(value)) }
        let error = try #require(throws: PluginError.self) {
            try Self.plugin.get().scheme(scheme).makeInstance(settings: settings)
        }
        guard case .failed(scheme, "create", 1, subject, "must not be empty", nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: ["k\r\nX-Evil: 1", "k\u{0}"])
    func `A key with a line break reaches no request`(key: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        let error = #expect(throws: PluginError.self) { try token("api-key", ["key": .secret(Secret(key))]).authorize(&request) }
        switch error?.reason {
        case .refusedEdit("api-key", _, _), .badSetting("api-key", "key", _): break
        default: Issue.record("\(String(describing: error).debugDescription)")
        }
        #expect(!request.headers.contains("X-API-Key"))
    }
}
