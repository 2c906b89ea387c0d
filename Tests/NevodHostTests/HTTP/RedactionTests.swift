import NevodSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct RedactionTests {
    private static let secret = "the-known-secret"

    /// Every way in which a value can reach a log.
    private func texts(_ value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, "\([value])", "\(Optional(value) as Any)",
        ]
    }

    private func leaks(_ value: some Any) -> Bool {
        texts(value).contains { $0.contains(Self.secret) || $0.contains("116, 104, 101, 45") }
    }

    private func authorized() throws -> HTTPRequest {
        var request = try HTTPRequest(.post, "http://h/p?mine=visible", body: .bytes(Array(Self.secret.utf8)))
        request.provenance = .scheme("s")
        try request.setHeader("X-Signature", Self.secret)
        request.appendQueryItem("sig".utf8, Self.secret.utf8)
        request.provenance = .token("T")
        try request.setCookie("session", Self.secret)
        request.provenance = .caller
        try request.setHeader("Authorization", Self.secret)
        try request.setHeader("Proxy-AUTHORIZATION", Self.secret)
        try request.setHeader("X-Mine", "visible")
        // A replaced value must be as hidden as the current one.
        request.provenance = .scheme("s")
        try request.setHeader("X-Other", Self.secret)
        try request.setHeader("X-Other", "short")
        request.provenance = .caller
        return request
    }

    @Test func `A request's description shows names, and the values that the caller wrote`() throws {
        let request = try authorized()
        #expect(!leaks(request))
        #expect(request.description == "POST http://h/p?mine=visible&sig=[redacted: scheme s]")
        #expect(
            request.redactedHead == [
                "POST /p?mine=visible&sig=[redacted: scheme s]", "X-Signature: [redacted: scheme s]",
                "Cookie: [redacted: token T]",
                "Authorization: [redacted]", "Proxy-AUTHORIZATION: [redacted]", "X-Mine: visible",
                "X-Other: [redacted: scheme s]",
            ])
        #expect(texts(request).contains { $0.contains("X-Mine: visible") })
    }

    @Test func `The description of headers shows names only`() throws {
        let headers = try authorized().headers
        #expect(!leaks(headers))
        #expect(headers.description.hasPrefix("[X-Signature, Cookie, "))
    }

    @Test func `The description and dump of an exchange show no secret`() throws {
        #expect(!leaks(Exchange(request: try authorized(), options: TransferOptions(), attempt: 1)))
    }

    @Test func `The description and dump of a response show no secret`() {
        var headers = HTTPHeaders()
        headers.add("Set-Cookie", Self.secret, by: .host)
        #expect(
            !leaks(
                HTTPResponse(version: .http11, status: 200, reason: "OK", headers: headers, body: .bytes(Array(Self.secret.utf8)))
            ))
    }

    @Test func `The description and dump of a Secret show nothing of it`() {
        #expect(!leaks(Secret(Self.secret)))
        #expect(!leaks(["secret": Secret(Self.secret)]))
        #expect(texts(Secret(Self.secret)).first == "[redacted]")
    }

    @Test func `The description and dump of settings show no secret`() {
        #expect(!leaks(["secret": .secret(Secret(Self.secret))] as SchemeSettings))
        #expect(!leaks(SchemeSettings.Value.secret(Secret(Self.secret))))
    }

    /// The dictionary literal turns a secret into text before the host knows that the setting is secret.
    @Test func `A secret setting given as plain text is not shown`() {
        #expect(!leaks(["secret": .text(Self.secret)] as SchemeSettings))
    }

    @Test func `The descriptions of an instance and its token show no secret`() throws {
        let instance = try TestPlugin.hmac.get().scheme().makeInstance(settings: [
            "api-key": "visible", "secret": .text(Self.secret),
        ])
        #expect(!leaks(instance))
        #expect(!leaks(instance.token))
        let issued = IssuedToken(bytes: Secret(Self.secret), expiresAt: nil, account: Self.secret)
        let stored = try PluginToken.decode(from: PluginToken(issued, of: instance).encode())
        #expect(!leaks(stored))
        #expect(!leaks(instance.token(stored)))
    }

    private var pluginError: PluginError {
        PluginError(
            "p",
            .failed(scheme: "s", function: "authorize", status: 6, subject: "x", message: "safe", detail: Secret(Self.secret)))
    }

    @Test func `The description of a plugin's error leaves out its detail`() {
        #expect(!leaks(pluginError))
        #expect(!leaks(pluginError.reason))
        #expect(
            "\(pluginError)"
                == "p: the scheme \"s\" failed because of a fault in the plugin: x safe; report it to the plugin's author, with the function authorize"
        )
    }

    @Test func `The description of a network error shows no secret, for any payload`() throws {
        #expect(!leaks(NetworkError.plugin(pluginError)))
        #expect(!leaks(NetworkError.authorization(pluginError)))
        #expect(!leaks(NetworkError.interceptor("I", pluginError)))
        var request = try authorized()
        let invalid = try #require(throws: InvalidRequestError.self) { try request.setHeader("X", "\(Self.secret)\n") }
        #expect(!leaks(NetworkError.invalidRequest(invalid)))
        let url = try #require(throws: InvalidRequestError.self) { try HTTPRequest(.get, "http://user:\(Self.secret)@h/") }
        #expect(!leaks(NetworkError.invalidRequest(url)))
    }

    @Test func `The error for a secret setting doesn't show its value`() throws {
        let scheme = try TestPlugin.settings.get().scheme()
        let error = try #require(throws: PluginError.self) {
            try scheme.makeInstance(settings: ["text": "x", "pin": .text(Self.secret)])
        }
        #expect(!leaks(error))
        #expect("\(error)".contains("\"pin\""))
    }

    @Test func `Secrets compare by their bytes`() {
        #expect(Secret("a") == Secret("a"))
        #expect(Secret("a") != Secret("b"))
        #expect(Secret("a") != Secret("ab"))
        #expect(Secret("") == Secret(copying: [UInt8]()))
    }
}
