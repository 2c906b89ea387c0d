import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests AWS Signature Version 4 as a plugin. botocore signs each received request again, and must get the same signature.
struct SigV4ProbeTests {
    private static let targets = [
        "/", "//", "/a", "/a/", "/a//b///c", "/a/./b/../c", "/../..", "/a/b/..", "/sp%20ace/%C3%BC/ü", "/star*/col:on/at@/pl+us",
        "/tilde~under_score-dot.", "/%7Etilde/%2Fslash/%25percent", "/semi;colon,comma=equals&and!'()$", "/?", "/?a", "/?a=",
        "/?b=2&a=1", "/?a=2&a=1&a", "/?A=1&a=1&%41=1", "/?x=%20+&y=%2B&z=~", "/?&&a=1&", "/p%20q?r=/s?t=u", "/?q=a=b=c",
        "/long/\(String(repeating: "path/", count: 40))?\((0..<40).map { "k\(39 - $0)=v" }.joined(separator: "&"))",
    ]

    private static func requests(to base: String) throws -> [HTTPRequest] {
        var requests = try targets.map { try HTTPRequest(.get, base + $0) }
        requests.append(try HTTPRequest(.post, "\(base)/form", body: .bytes(Array("Action=List&Version=1".utf8))))
        requests.append(try HTTPRequest(.put, "\(base)/bytes", body: .bytes(Array(0...255))))
        requests.append(try HTTPRequest(.post, "\(base)/empty"))
        requests.append(try HTTPRequest(.delete, "\(base)/gone?version=3"))
        requests.append(try HTTPRequest(.patch, "\(base)/large", body: .bytes([UInt8](repeating: 7, count: 300_000))))
        requests.append(try HTTPRequest(.post, "\(base)/stream", body: .stream(.of([[1, 2, 3], [4, 5]], length: 5))))
        var headers = try HTTPRequest(.get, "\(base)/headers")
        for (name, value) in [
            ("X-Amz-Target", "Table.List"), ("My-Header", "  a   b  c "), ("B", "2"), ("a", "1"), ("Repeated", "one"), ("B", "3"),
            ("Empty", ""), ("User-Agent", "a proxy may change this"),
        ] {
            try headers.addHeader(name, value)
        }
        requests.append(headers)
        return requests
    }

    @Test(arguments: [false, true])
    func `botocore agrees on every request`(hasSessionToken: Bool) async throws {
        let server = try await ProbeServer.start("sigv4")
        var settings: SchemeSettings = [
            "access-key": "AKIDEXAMPLE", "region": "eu-central-1", "service": "execute-api",
            "secret-key": .secret(Secret(copying: Array("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".utf8))),
        ]
        if hasSessionToken { settings.add("session-token", .secret(Secret(copying: Array("a+session/token==".utf8)))) }
        let instance = try TestPlugin.sigv4.get().scheme().makeInstance(settings: settings, clock: .fixed)
        let provider = NetworkProvider(
            config: NetworkConfig(), session: CurlSession(),
            interceptor: SchemeSession(instance, storage: InMemoryStorage()).interceptor)
        let requests = try Self.requests(to: server.url)
        #expect(requests.count >= 30)
        for request in requests {
            let response = try await provider.send(request)
            let lines = String(decoding: try await response.body.collect(), as: UTF8.self).split(separator: "\n").map(String.init)
            #expect(response.status == 200, "\(lines)")
            #expect(
                lines.count == 3 && lines[1] == lines[2]
                    && lines[1].hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/"))
        }
    }

    // MARK: A server with another time

    /// A file on an S3 server, with the digest of its content that S3 requires.
    private static func file(_ name: String, _ url: String, _ content: String) throws -> HTTPRequest {
        let digests = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ]
        let body = HTTPBody.bytes(Array(content.utf8))
        var request = try HTTPRequest(content.isEmpty ? .get : .put, "\(url)/\(name)", body: content.isEmpty ? .none : body)
        try request.setHeader("X-Amz-Content-Sha256", #require(digests[content]))
        return request
    }

    private static func s3(_ secret: String = "sesame") throws -> SchemeInstance {
        try TestPlugin.sigv4.get().scheme().makeInstance(settings: [
            "access-key": "demo:ali", "secret-key": .text(secret), "region": "us-east-1", "service": "s3",
        ])
    }

    /// Verified by OpenStack Swift, which allows 15 minutes, as Amazon S3 does.
    @Test(arguments: [3600, -3600, 600])
    func `A server with another time refuses the first signature only`(ahead: Int) async throws {
        let server = try await ProbeServer.start("s3", ["--ahead", "\(ahead)"])
        let instance = try Self.s3()
        let isRefused = abs(ahead) > 900

        // By the local clock, because there is no provider that could learn the server's.
        var request = try Self.file("", server.url, "")
        CurlSession().prepare(&request)
        try instance.token.authorize(&request)
        let skewed = try await CurlSession().send(request, TransferOptions())
        #expect(skewed.status == (isRefused ? 403 : 200))
        let text = String(decoding: try await skewed.body.collect(), as: UTF8.self)
        #expect(text.contains("<Code>RequestTimeTooSkewed</Code>") == isRefused)

        let sent = Collected<HTTPRequest>()
        let provider = NetworkProvider(session: CurlSession(), signer: instance.token) { sent.append($0) }
        #expect(try await provider.send(Self.file("bucket/name", server.url, "abc")).status == 200)
        #expect(sent.values.count == (isRefused ? 2 : 1))
        #expect(try await provider.send(Self.file("", server.url, "")).status == 200)
        #expect(sent.values.count == (isRefused ? 3 : 2))
    }

    @Test func `A wrong key is refused after one more attempt, for another reason`() async throws {
        let server = try await ProbeServer.start("s3", ["--ahead", "3600"])
        let sent = Collected<HTTPRequest>()
        let provider = NetworkProvider(session: CurlSession(), signer: try Self.s3("guess").token) { sent.append($0) }
        let response = try await provider.send(Self.file("", server.url, ""))
        #expect(response.status == 403)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        #expect(text.contains("<Code>SignatureDoesNotMatch</Code>"))
        #expect(sent.values.count == 2)
    }
}
