import Testing

@testable import NevodHost

/// Bodies that are streams. The host computes their digests.
struct RecipeStreamTests {
    // One transfer reads it from beginning to end.
    private final class Reader: HTTPBodyReader, @unchecked Sendable {
        private var rest: [UInt8]

        init(_ bytes: [UInt8]) { rest = bytes }

        func read(upTo count: Int) async throws -> [UInt8] {
            defer { rest.removeFirst(min(count, rest.count)) }
            return Array(rest.prefix(count))
        }
    }

    private func stream(_ bytes: [UInt8], isReplayable: Bool, length: Int64?) -> HTTPBody {
        .stream(HTTPBodyStream(length: length, isReplayable: isReplayable) { Reader(bytes) })
    }

    private func authorized(_ body: HTTPBody, _ template: String, _ before: String = "") async throws -> HTTPRequest {
        var exchange = try Exchange(
            request: HTTPRequest(.post, "https://h.example/", body: body), options: TransferOptions())
        let sign = "header X-Sign = {target|hmac:sha256:secret|hex}"
        try await makeToken(["recipe": "\(before)\nheader X-Value = \(template)\n\(sign)"]).authorize(&exchange)
        return exchange.request
    }

    @Test(arguments: ["sha256", "sha384", "sha512"])
    func `A stream that can be read again is hashed`(hash: String) async throws {
        let expected = try Python.evaluate(["digest('\(hash)', BODY).hex()"])
        let signed = try await authorized(stream(Array("Hello".utf8), isReplayable: true, length: 5), "{body|\(hash)|hex}")
        #expect(signed.headers["X-Value"] == expected[0])
    }

    @Test func `The length of a stream needs none of its bytes`() async throws {
        for isReplayable in [false, true] {
            let signed = try await authorized(stream([1, 2, 3], isReplayable: isReplayable, length: 3), "{body|length}")
            #expect(signed.headers["X-Value"] == "3")
        }
        let error = try await #require(throws: PluginError.self) {
            try await authorized(stream([1], isReplayable: false, length: nil), "{body|length}")
        }
        #expect("\(error)".contains("the length of the body is signed, but is not known"), "\(error)")
    }

    @Test(arguments: [
        "{body}", "{body|md5|hex}", "{body|sha3-256|hex}", "{body|hmac:sha256:secret|hex}", "{form:a}", "{json:a}", "{json:a?}",
        "{body|base64}", "{m|sha256|hex}",
    ])
    func `A stream's bytes can't be signed`(template: String) async throws {
        let error = try await #require(throws: PluginError.self) {
            try await authorized(
                stream([1], isReplayable: true, length: 1), template, template.contains("{m|") ? "let m = {method}{body}" : "")
        }
        #expect("\(error)".contains("{body} can't sign a body that is a stream"), "\(error)")
    }
}
