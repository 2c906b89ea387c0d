import Testing

@testable import NevodHost

struct TokenModelTests {
    private struct Key: TokenModel {
        let value: String
        func authorize(_ request: inout HTTPRequest) throws {
            try request.setHeader("X-Key", value)
            try request.addHeader("X-Also", value)
            try request.setCookie("key", value)
            request.appendQueryItem("key".utf8, value.utf8)
        }
        func encode() throws -> [UInt8] { Array(value.utf8) }
        static func decode(from data: [UInt8]) throws -> Key { Key(value: String(decoding: data, as: UTF8.self)) }
    }

    /// Another library's request type.
    private struct Foreign: RequestRepresentation {
        var key: String?
        init(_ request: HTTPRequest) {}
        func write(to request: inout HTTPRequest) throws {
            if let key { try request.setHeader("X-Foreign", key) }
        }
    }

    private struct ForeignKey: TokenModel {
        func authorize(_ request: inout Foreign) throws { request.key = "secret" }
        func encode() throws -> ContiguousArray<UInt8> { [] }
        static func decode(from data: ContiguousArray<UInt8>) throws -> ForeignKey { ForeignKey() }
    }

    private func exchange() throws -> Exchange {
        Exchange(request: try HTTPRequest(.get, "http://h/p?q"), options: TransferOptions(), attempt: 1)
    }

    @Test func `Everything that a token writes has its provenance`() async throws {
        var exchange = try exchange()
        try exchange.request.setHeader("X-Mine", "1")
        try await Key(value: "secret").authorize(&exchange)
        #expect(exchange.request.headers.map(\.provenance) == [.caller, .token("Key"), .token("Key"), .token("Key")])
        #expect(exchange.request.target == "/p?q&key=secret")
        #expect(exchange.request.redactedTarget == "/p?q&key=[redacted: token Key]")
        #expect(!"\(exchange)".contains("secret"))
        try exchange.request.setHeader("X-After", "1")
        #expect(exchange.request.headers.map(\.provenance).last == .caller)
    }

    @Test func `A token may authorize another type of request`() async throws {
        var exchange = try exchange()
        try await ForeignKey().authorize(&exchange)
        #expect(
            Array(exchange.request.headers) == [
                HTTPHeaders.Element(name: "X-Foreign", value: "secret", provenance: .token("ForeignKey"))
            ])
    }

    @Test func `A token is a credential unless it says that it signs`() {
        #expect(Key.phase == .credential)
        #expect(PluginToken.phase == .signature)
    }

    @Test func `A token survives its storage`() throws {
        #expect(try Key.decode(from: Key(value: "ä").encode()).value == "ä")
    }
}
