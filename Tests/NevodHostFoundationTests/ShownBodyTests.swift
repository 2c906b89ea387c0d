import Foundation
import NevodHostFoundation
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tokens and interceptors written for `URLRequest` that sign the body, over real HTTP. Python computes the hash of the received
/// body.
struct ShownBodyTests {
    private enum Hash {
        static func hex(_ body: Data?) -> String {
            let digests = SharedDigest(.sha256)
            digests?.update(Array(body ?? Data()))
            return digests?.finish().map { $0.map { String(format: "%02x", $0) }.joined() } ?? ""
        }
    }

    private struct BodyHash: TokenModel {
        func authorize(_ request: inout URLRequest) { request.setValue(Hash.hex(request.httpBody), forHTTPHeaderField: "X-Hash") }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> BodyHash { BodyHash() }
    }

    /// A token like most of those that Nevod's users write.
    private struct Bearer: TokenModel {
        static var readsBody: Bool { false }
        func authorize(_ request: inout URLRequest) {
            #expect(request.httpBody == nil)
            request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> Bearer { Bearer() }
    }

    private struct HashInterceptor: RequestInterceptor {
        func adapt(_ request: URLRequest) async throws -> URLRequest {
            var request = request
            request.setValue(Hash.hex(request.httpBody), forHTTPHeaderField: "X-Hash")
            return request
        }

        func retry(_ request: URLRequest, response: HTTPURLResponse?, error: NetworkError) async throws -> Bool {
            request.httpBody != nil && request.value(forHTTPHeaderField: "X-Hash") == Hash.hex(request.httpBody)
                && Exchange.current?.attempt == 1
        }
    }

    private struct Received: Sendable {
        let hash: String?
        let authorization: String?
        let body: [UInt8]
    }

    private let received = Collected<Received>()
    private let server: RawServer

    init() throws {
        let received = received
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                func field(_ name: String) -> String? {
                    request.head.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }.map {
                        String($0.dropFirst(name.count + 2))
                    }
                }
                received.append(
                    Received(hash: field("X-Hash"), authorization: field("Authorization"), body: request.body))
                let status = request.head.contains("/once") && received.values.count == 1 ? 503 : 200
                guard connection.write("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n") else { return }
            }
        }
    }

    private func provider(_ interceptor: any RequestInterceptor) -> NetworkProvider {
        NetworkProvider.quick(baseURL: server.url, interceptor: interceptor)
    }

    /// Whether each request carried the hash that Python computes for its body.
    private func verified() throws -> [Bool] {
        try received.values.map { request in
            let script = "import hashlib,sys; print(hashlib.sha256(open(sys.argv[1],'rb').read()).hexdigest())"
            let folder = try TemporaryFolder()
            let path = try folder.write("body", request.body)
            let hash = try Command.output(["python3", "-c", script, path]).filter { !$0.isWhitespace }
            return hash == request.hash && !request.body.isEmpty
        }
    }

    private func form(file: String? = nil) -> MultipartRoute<EmptyResponse, DefaultDomain> {
        var parts = [
            FormDataPart(name: "title", value: "a text"),
            FormDataPart(
                name: "file", filename: "a.bin", data: (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }, mimeType: "a/b"),
        ]
        if let file { parts.append(FormDataPart(name: "disk", path: file)) }
        return MultipartRoute(endpoint: "/form", domain: .default, parts: parts)
    }

    @Test func `A token signs the body of a form, from memory and from a file`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("part", Array("on disk".utf8))
        for signer in [TokenInterceptor(BodyHash()), TokenInterceptor(BodyHash(), phase: .signature)] {
            _ = try await provider(signer).perform(form())
            _ = try await provider(signer).perform(form(file: file))
        }
        #expect(try verified() == [true, true, true, true])
        #expect(received.values.last.map { String(decoding: $0.body, as: UTF8.self).contains("on disk") } == true)
    }

    @Test func `An interceptor signs the body of a form, and finds it after a failure`() async throws {
        var route = form()
        route.endpoint = "/once"
        let provider = NetworkProvider(
            config: NetworkConfig(
                environments: [DefaultDomain.default: SimpleEnvironment(baseURL: server.url)], retryPolicy: .none),
            interceptor: HashInterceptor())
        _ = try await provider.perform(route)
        #expect(try verified() == [true, true])
    }

    @Test func `The progress counts what is sent, not what is shown`() async throws {
        let progress = Collected<Int64>()
        _ = try await provider(TokenInterceptor(BodyHash())).perform(form(), uploadProgress: { progress.append($0.completed) })
        #expect(progress.values == progress.values.sorted())
        #expect(progress.values.last == received.values.last.map { Int64($0.body.count) })
        #expect(try verified() == [true])
    }

    @Test(arguments: [false, true])
    func `A body that can't be shown is an error, and nothing is sent`(isReplayable: Bool) async throws {
        let opened = Collected<Void>()
        // It can be read only once, or it is too long to be held in memory.
        let stream = HTTPBodyStream.of(
            [[1, 2, 3]], length: isReplayable ? Int64(65 << 20) : 3, isReplayable: isReplayable, opened: opened)
        let request = try HTTPRequest(.post, server.url, body: .stream(stream))
        let failures = await [
            #expect(throws: NetworkError.self) { try await provider(TokenInterceptor(BodyHash())).send(request) },
            #expect(throws: NetworkError.self) { try await provider(HashInterceptor()).send(request) },
        ]
        for (failure, reader) in zip(failures, ["BodyHash", "HashInterceptor"]) {
            let error = failure?.underlying as? UnshownBodyError
            #expect(error?.reader == reader && error?.length == stream.length && error?.isReplayable == isReplayable)
            #expect(error?.description.contains("readsBody") == true)
        }
        #expect(received.values.isEmpty && opened.values.isEmpty)
    }

    @Test func `A stream of unknown length is shown up to the limit`() async throws {
        let short = HTTPBodyStream.of([[1, 2], [3]], length: nil)
        var exchange = Exchange(request: try HTTPRequest(.post, server.url, body: .stream(short)), options: TransferOptions())
        try await BodyHash().authorize(&exchange)
        #expect(exchange.request.headers["X-Hash"] == Hash.hex(Data([1, 2, 3])))
        let long = HTTPBodyStream.of(Array(repeating: Array(repeating: 0, count: 1 << 20), count: 65), length: nil)
        exchange.request.body = .stream(long)
        await #expect(throws: UnshownBodyError.self) { try await BodyHash().authorize(&exchange) }
    }

    @Test func `A token that reads no body is shown none, and any body is sent`() async throws {
        let opened = Collected<Void>()
        let once = HTTPBodyStream.of([[1, 2, 3]], length: 3, isReplayable: false, opened: opened)
        let provider = provider(TokenInterceptor(Bearer()))
        _ = try await provider.send(HTTPRequest(.post, server.url, body: .stream(once)))
        _ = try await provider.perform(form())
        #expect(received.values.map(\.authorization) == ["Bearer t", "Bearer t"])
        #expect(received.values.first?.body == [1, 2, 3] && opened.values.count == 1)
    }

    @Test func `A body stays a stream unless it is changed`() async throws {
        var exchange = Exchange(
            request: try HTTPRequest(.post, server.url, body: .stream(.of([[1], [2]], length: 2))), options: TransferOptions())
        exchange.request.materialize()
        try await BodyHash().authorize(&exchange)
        guard case .stream = exchange.request.body else {
            Issue.record("\(exchange.request.body)")
            return
        }
        #expect(exchange.request.headers["Content-Length"] == "2")
        struct Replacing: RequestInterceptor {
            func adapt(_ request: URLRequest) async throws -> URLRequest {
                var request = request
                request.httpBody?.append(3)
                return request
            }
        }
        try await Replacing().adapt(&exchange)
        guard case .bytes([1, 2, 3]) = exchange.request.body else {
            Issue.record("\(exchange.request.body)")
            return
        }
    }
}
