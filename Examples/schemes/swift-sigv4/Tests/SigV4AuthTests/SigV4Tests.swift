import NevodPluginTesting
import SigV4Auth
import Testing

@Suite struct SigV4Tests {
    private let plugin = TestedPlugin(nevod_plugin_v1())

    /// `get-vanilla` of AWS's test suite for Signature Version 4.
    @Test func `A request is signed as in AWS's test suite`() throws {
        let scheme = try plugin.scheme(
            "aws-sigv4",
            settings: [
                "access-key": "AKIDEXAMPLE", "secret-key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "region": "us-east-1",
                "service": "service",
            ], clock: .fixed(1_440_938_160))
        let signed = try scheme.authorize(TestRequest("GET", "https://example.amazonaws.com/"))
        #expect(
            signed.headers["Authorization"] == """
                AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, \
                Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31
                """)
    }
}
