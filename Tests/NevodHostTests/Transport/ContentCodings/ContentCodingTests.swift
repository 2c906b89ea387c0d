import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests compressed responses over real HTTP, from a server that compresses with Python's libraries.
struct ContentCodingTests {
    static let all = ["gzip", "zlib", "raw", "br", "zstd", "members", "frames"]
    static let framings = ["length", "chunked", "close"]

    private let server: ProbeServer
    private let session = CurlSession(CurlSession.Configuration(decompresses: true))

    init() async throws {
        server = try await ProbeServer.start("coding")
    }

    private func response(
        _ query: String, _ method: HTTPMethod = .get, isStreamed: Bool = false, by session: CurlSession? = nil
    ) async throws -> HTTPResponse {
        let options = TransferOptions(delivery: isStreamed ? .streamed : .collected(limit: 64 << 20))
        return try await (session ?? self.session).send(HTTPRequest(method, "\(server.url)/?\(query)"), options)
    }

    private func body(_ query: String, isStreamed: Bool = false) async throws -> [UInt8] {
        try await response(query, isStreamed: isStreamed).body.collect()
    }

    private func expectFailure(
        _ query: String, _ curlCode: Int32, _ text: String, by session: CurlSession? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for isStreamed in [false, true] {
            let error = await #expect(throws: TransportError.self, "\(query)", sourceLocation: sourceLocation) {
                try await response(query, isStreamed: isStreamed, by: session).body.collect()
            }
            #expect(error?.curlCode == curlCode, "\(query)", sourceLocation: sourceLocation)
            #expect(error.map { "\($0)" }?.contains(text) == true, "\(query): \(error as Any)", sourceLocation: sourceLocation)
        }
    }

    /// The result of the server's `content`.
    static func pattern(_ count: Int) -> [UInt8] { pattern(0..<count) }
    private static func pattern(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(($0 * 7 + $0 >> 8) & 0x3F) } }

    @Test(arguments: all)
    func `Each coding is undone, at any size and framing`(coding: String) async throws {
        for (index, size) in [0, 1, 100, 65535, 65536, 1_000_003].enumerated() {
            let expected = Self.pattern(size)
            for isStreamed in [false, true] {
                let framing = Self.framings[index % 3]
                let body = try await body("codings=\(coding)&size=\(size)&framing=\(framing)", isStreamed: isStreamed)
                #expect(body == expected, "\(size) \(framing)")
            }
        }
    }

    @Test(arguments: ["gzip,gzip", "br,gzip", "zstd,br,zlib", "gzip,gzip,gzip,gzip,gzip"])
    func `Codings around one another are undone in reverse`(codings: String) async throws {
        for isStreamed in [false, true] {
            #expect(try await body("codings=\(codings)&size=100000", isStreamed: isStreamed) == Self.pattern(100_000))
        }
    }

    @Test(arguments: ["x-gzip", "GZip", "identity,gzip", "gzip,%20identity", ",gzip,"])
    func `A coding has other spellings`(name: String) async throws {
        #expect(try await body("codings=gzip&size=1000&name=\(name)") == Self.pattern(1000))
    }

    @Test(arguments: ["gzip", "zlib", "raw", "br", "zstd", "members", "frames"], framings)
    func `A body that ends before its coding does is an error`(coding: String, framing: String) async {
        for cut in [1, 4, 8, 9, 20] {
            await expectFailure(
                "codings=\(coding)&size=5000&kind=random&cut=\(cut)&framing=\(framing)", 18, "ends in the middle of its")
        }
    }

    @Test(arguments: ["gzip,gzip", "zstd,gzip", "br,zstd"])
    func `The inner coding must be complete too`(codings: String) async {
        await expectFailure("codings=\(codings)&size=5000&kind=random&innercut=3", 18, "ends in the middle of its")
    }

    @Test(arguments: ["gzip", "zlib", "raw", "br", "members"])
    func `Bytes after the end are an error`(coding: String) async {
        await expectFailure("codings=\(coding)&size=5000&append=676172", 61, "")
    }

    @Test func `Zeros after gzip are padding`() async throws {
        #expect(try await body("codings=gzip&size=5000&append=000000") == Self.pattern(5000))
        await expectFailure("codings=gzip&size=5000&append=000001", 61, "bytes follow the end of its gzip coding")
    }

    @Test(arguments: ["gzip", "zlib", "br", "zstd"])
    func `Bytes that are no coding are an error`(coding: String) async {
        let name = coding == "zlib" ? "deflate" : coding
        await expectFailure("size=5000&kind=random&name=\(name)", 61, "coding is invalid")
    }

    @Test func `An unknown coding is an error, and so are too many`() async {
        await expectFailure("size=10&name=compress", 61, "\"compress\" is unknown")
        await expectFailure("size=10&name=gzip,gzip,gzip,gzip,gzip,gzip", 61, "more than 5 content codings")
    }

    // MARK: Responses without a body

    @Test(arguments: ["gzip", "br", "nonsense"])
    func `A response without a body needs no coding`(name: String) async throws {
        for isStreamed in [false, true] {
            for query in ["status=204", "status=304"] {
                let response = try await response("name=\(name)&\(query)", isStreamed: isStreamed)
                #expect(try await response.body.collect().isEmpty)
            }
            let head = try await response("codings=gzip&size=5000&name=\(name)", .head, isStreamed: isStreamed)
            #expect(try await head.body.collect().isEmpty)
            #expect(head.headers["Content-Encoding"] == name)
        }
    }

    @Test(arguments: ["length", "chunked"])
    func `A body that is said to be empty is empty`(framing: String) async throws {
        #expect(try await body("name=gzip&framing=\(framing)").isEmpty)
    }

    @Test func `Nothing before the connection closes is an error`() async {
        await expectFailure("name=gzip&framing=close", 18, "ends in the middle of its gzip coding")
    }

    // MARK: Limits

    private func bomb(_ codings: String, size: Int) async throws -> [UInt8] {
        let response = try await CurlSession().send(
            HTTPRequest(.get, "\(server.url)/raw?codings=\(codings)&size=\(size)&kind=zeros"), TransferOptions())
        return try await response.body.collect()
    }

    @Test(arguments: ["gzip,gzip", "zlib,zlib", "br", "zstd,zstd"])
    func `A small body that grows out of proportion is an error`(codings: String) async throws {
        let size = 200 << 20
        #expect(try await bomb(codings, size: size).count < 64 << 10)
        await expectFailure("codings=\(codings)&size=\(size)&kind=zeros", 63, "grows out of proportion")
    }

    @Test func `One gzip of zeros passes at any size, in little memory`() async throws {
        let response = try await response("codings=gzip&size=\(200 << 20)&kind=zeros", isStreamed: true)
        guard case .stream(let stream) = response.body else { throw Command.Failure(description: "not a stream") }
        var (count, largest) = (0, 0)
        for try await piece in stream {
            count += piece.count
            largest = max(largest, piece.count)
        }
        #expect(count == 200 << 20)
        #expect(largest < 1 << 20)
    }

    @Test func `The limit is the session's`() async throws {
        let limit = DecompressionLimit(ratio: 10, allowance: 1000)
        let session = CurlSession(CurlSession.Configuration(decompresses: true, decompressionLimit: limit))
        let small = try await response("codings=gzip&size=1000&kind=zeros", by: session)
        #expect(try await small.body.collect().count == 1000)
        let incompressible = try await response("codings=gzip&size=100000&kind=random", by: session)
        #expect(try await incompressible.body.collect().count == 100_000)
        await expectFailure("codings=gzip&size=100000&kind=zeros", 63, "decompressionLimit", by: session)
        let unlimited = CurlSession(
            CurlSession.Configuration(
                decompresses: true, decompressionLimit: DecompressionLimit(ratio: .max, allowance: .max)))
        let bomb = try await response("codings=gzip,gzip&size=\(40 << 20)&kind=zeros", by: unlimited)
        #expect(try await bomb.body.collect().count == 40 << 20)
    }

    @Test func `The limit of a collected body counts decoded bytes`() async throws {
        let request = try HTTPRequest(.get, "\(server.url)/?codings=gzip&size=100000&kind=zeros")
        let error = await #expect(throws: TransportError.self) {
            try await session.send(request, TransferOptions(delivery: .collected(limit: 99_999)))
        }
        #expect(error?.code == .bodyTooLarge(limit: 99_999))
        #expect(try await session.send(request, TransferOptions(delivery: .collected(limit: 100_000))).status == 200)
    }

    @Test func `A slow reader gets every byte`() async throws {
        let response = try await response("codings=gzip,br&size=3000000&kind=pattern", isStreamed: true)
        guard case .stream(let stream) = response.body else { throw Command.Failure(description: "not a stream") }
        var count = 0
        while let piece = try await stream.next() {
            #expect(piece == Self.pattern(count..<count + piece.count))
            count += piece.count
            if count % 7 == 0 { await Task.yield() }
        }
        #expect(count == 3_000_000)
        #expect(try await stream.next() == nil)
    }

    @Test func `Without decompression, the coded bytes are returned`() async throws {
        let plain = CurlSession()
        let coded = try await response("codings=gzip&size=1000", by: plain).body.collect()
        #expect(coded.prefix(2) == [0x1F, 0x8B])
        let cut = try await response("codings=gzip&size=1000&cut=4", by: plain).body.collect()
        #expect(cut == coded.dropLast(4))
    }

    // MARK: Transfer codings

    @Test(arguments: ["gzip", "gzip, chunked", "deflate", "br", "chunked, gzip"], [true, false])
    func `A transfer coding that was not asked for is refused`(value: String, decompresses: Bool) async throws {
        let server = try RawServer.responding(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\nConnection: close\r\n\r\n0\r\n\r\n")
        let session = CurlSession(CurlSession.Configuration(decompresses: decompresses))
        let error = await #expect(throws: TransportError.self) {
            try await session.send(HTTPRequest(.get, server.url), TransferOptions())
        }
        #expect(error?.code == .malformedResponse)
    }
}
