import NevodSupport
import Testing

@testable import NevodHost

/// The real libAPIKeyAuth.so. `SameBytesTests` tests what it puts on the wire.
struct APIKeyAuthTests {
    private static let plugin = Result { try Plugin(named: "APIKeyAuth") }

    private func token(_ scheme: String, _ settings: SchemeSettings) throws -> PluginToken {
        try Self.plugin.get().scheme(scheme).makeInstance(settings: settings).token
    }

    @Test(arguments: [
        ("Bearer", "Bearer k"), ("Token token=", "Token token=k"), ("", "k"), ("key ", "key k"), ("API-Key:", "API-Key:k"),
        ("v1", "v1 k"), ("clé", "clé k"),
    ])
    func `The key follows its prefix`(prefix: String, value: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        try token("api-key", ["key": .secret(Secret("k")), "header": "Authorization", "prefix": .text(prefix)])
            .authorize(&request)
        #expect(request.headers.values(of: "Authorization") == [value])
    }

    @Test func `Each key has its header, its query item or its cookie`() throws {
        var keys = SchemeSettings()
        for key in ["a", "b"] { keys.add("key", .secret(Secret(key))) }
        for (scheme, setting, names) in [
            ("api-key", "header", ["X-1", "X-2"]), ("api-key-query", "parameter", ["1", "2"]),
            ("api-key-cookie", "cookie", ["1", "2"]),
        ] {
            var settings = keys
            for name in names { settings.add(setting, .text(name)) }
            var request = try HTTPRequest(.get, "http://h/?x")
            let token = try token(scheme, settings)
            try token.authorize(&request)
            try token.authorize(&request)
            switch scheme {
            case "api-key": #expect(names.flatMap { request.headers.values(of: $0) } == ["a", "b"])
            case "api-key-query": #expect(request.target.hasSuffix("/?x&1=a&2=b"))
            default: #expect(request.headers.values(of: "Cookie") == ["1=a; 2=b"])
            }
        }
    }

    @Test(arguments: [
        ("api-key", "key", "must not be empty", ["key": ""]),
        ("api-key", "header", "must not be empty", ["key": "k", "header": ""]),
        ("api-key", "header", "must be another header: this one is the host's own", ["key": "k", "header": "HOST"]),
        ("api-key-query", "key", "must not be empty", ["key": ""]),
        ("api-key-query", "parameter", "must not be empty", ["key": "k", "parameter": ""]),
        ("api-key-cookie", "key", "must not be empty", ["key": "", "cookie": "c"]),
        ("api-key", "key", "must not contain a control character, such as a line break", ["key": "k\r\nX-Evil: 1"]),
        ("api-key", "key", "must not contain a control character, such as a line break", ["key": "k\u{0}"]),
        ("api-key", "key", "must not begin or end with a space", ["key": "k "]),
        ("api-key-cookie", "key", "must not contain a semicolon or a tab, for a cookie", ["key": "k;a=b", "cookie": "c"]),
    ])
    func `Invalid settings are refused by name`(
        scheme: String, subject: String, message: String, values: [String: String]
    ) throws {
        var settings = SchemeSettings()
        for (name, value) in values { settings.add(name, name == "key" ? .secret(Secret(value)) : .text(value)) }
        let error = try #require(throws: PluginError.self) {
            try Self.plugin.get().scheme(scheme).makeInstance(settings: settings)
        }
        switch error.reason {
        case .failed(scheme, "create", 1, subject, message, nil): break
        // The host itself rejects NUL in a text.
        case .badSetting(scheme, subject, _): break
        default: Issue.record("\(error)")
        }
    }
}
