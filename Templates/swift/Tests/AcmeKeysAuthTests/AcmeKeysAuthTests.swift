import AcmeKeysAuth
import NevodPluginTesting
import Testing

@Suite struct AcmeKeysAuthTests {
    private let plugin = TestedPlugin(nevod_plugin_v1())

    @Test func `A request gets key, secret and time`() throws {
        let scheme = try plugin.scheme("acme-keys", settings: ["key": "me", "secret": "s3cret"], clock: .fixed(1_767_225_600))
        let signed = try scheme.authorize(TestRequest("GET", "https://api.example.com/orders"))
        #expect(signed.headers["X-Key"] == "me")
        #expect(signed.headers["X-Secret"] == "s3cret")
        #expect(signed.headers["X-Time"] == "1767225600")
    }

    @Test func `An empty key is refused`() {
        #expect(throws: TestFailure.self) { try plugin.scheme("acme-keys", settings: ["key": "", "secret": "s3cret"]) }
    }
}
