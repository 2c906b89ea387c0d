import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// A store written by Nevod, with its default key for every type of token.
struct NevodMigrationTests {
    private static let old: StorageKey = "com.nevod.token"
    private static let bearer = Array(#"{"value":"secret"}"#.utf8)

    /// A program's own type, whose `decode` accepts any text.
    private struct Lenient: TokenModel, Equatable {
        let text: String

        func authorize(_ request: inout HTTPRequest) throws { try request.setHeader("X-Lenient", text) }
        func encode() throws -> [UInt8] { Array(text.utf8) }
        static func decode(from data: [UInt8]) throws -> Self { Self(text: String(decoding: data, as: UTF8.self)) }
    }

    /// A storage without compare-and-swap, as a program for Nevod would write it.
    private final class Plain: KeyValueStorage {
        let values = Locked<[StorageKey: [UInt8]]>([:])

        func data(for key: StorageKey) -> [UInt8]? { values.withLock { $0[key] } }
        func set(_ value: [UInt8]?, for key: StorageKey) { values.withLock { $0[key] = value } }
        func remove(for key: StorageKey) { values.withLock { $0[key] = nil } }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func storage(_ kind: String) async throws -> any KeyValueStorage {
        switch kind {
        case "files": return try FileStorage(directory: folder.makeFolder("files"))
        case "sqlite":
            let key = KeyFile(path: "\(folder.path)/key")
            return try await SQLiteStorage(path: "\(folder.path)/tokens.db", keys: [key])
        case "plain": return Plain()
        default: return InMemoryStorage()
        }
    }

    private func bytes(_ storage: any KeyValueStorage, _ key: StorageKey) async throws -> [UInt8]? {
        try await AnyKeyValueStorage(storage).read(key)?.copied(as: [UInt8].self)
    }

    private func write(_ bytes: [UInt8], _ storage: any KeyValueStorage) async throws {
        try await AnyKeyValueStorage(storage).write(Self.old, Secret(copying: bytes))
    }

    @Test(arguments: ["memory", "plain", "files", "sqlite"])
    func `A token is found, and stored anew by the next save`(kind: String) async throws {
        let store = try await storage(kind)
        try await write(Self.bearer, store)
        let tokens = TokenStorage<Token>(storage: store)
        #expect(try await tokens.load() == Token(value: "secret"))
        #expect(try await bytes(store, .token) == nil)
        try await tokens.save(Token(value: "new"))
        #expect(try await bytes(store, .token) == Array("new".utf8))
        #expect(try await bytes(store, Self.old) == nil)
    }

    @Test(arguments: ["memory", "plain", "files", "sqlite"])
    func `A cleared token doesn't come back`(kind: String) async throws {
        let store = try await storage(kind)
        try await write(Self.bearer, store)
        try await TokenStorage<Token>(storage: store).clear()
        #expect(try await bytes(store, Self.old) == nil)
        #expect(try await TokenStorage<Token>(storage: store).load() == nil)
    }

    @Test(arguments: ["memory", "plain", "files", "sqlite"])
    func `A token is replaced by its version`(kind: String) async throws {
        let store = try await storage(kind)
        try await write(Self.bearer, store)
        let tokens = TokenStorage<Token>(storage: store)
        let version = try await tokens.current().version
        #expect(try await tokens.save(Token(value: "new"), replacing: version))
        #expect(try await !tokens.save(Token(value: "late"), replacing: version))
        #expect(try await bytes(store, Self.old) == nil)
        #expect(try await bytes(store, .token) == Array("new".utf8))
        try await write(Self.bearer, store)
        let next = try await tokens.current().version
        #expect(try await tokens.save(nil, replacing: next))
        #expect(try await tokens.load() == nil)
    }

    @Test func `A newer token counts, and its removal removes both`() async throws {
        let store = InMemoryStorage()
        try await write(Self.bearer, store)
        store.set(Array("newer".utf8), for: .token)
        let tokens = TokenStorage<Token>(storage: store)
        #expect(try await tokens.load() == Token(value: "newer"))
        try await tokens.clear()
        #expect(store.data(for: Self.old) == nil)
        #expect(try await TokenStorage<Token>(storage: store).load() == nil)
    }

    @Test func `A token is found only by its own type`() async throws {
        let formats: [(String, Int)] = [
            (#"{"value":"a"}"#, 0), (#"{"apiKey":"a","headerName":"X-A"}"#, 1), (#"{"apiKey":"a","paramName":"a"}"#, 2),
            (#"[{"name":"a","value":"b","domain":"h","path":"/","isSecure":false,"isHTTPOnly":false}]"#, 3),
            (#"{"id":"a","secret":"b"}"#, 4), ("not JSON", 4),
        ]
        for (text, owner) in formats {
            let store = InMemoryStorage()
            try await write(Array(text.utf8), store)
            let found = [
                try await TokenStorage<Token>(storage: store).load() != nil,
                try await TokenStorage<APIKeyToken>(storage: store).load() != nil,
                try await TokenStorage<QueryAPIKeyToken>(storage: store).load() != nil,
                try await TokenStorage<CookieToken>(storage: store).load() != nil,
                try await TokenStorage<Lenient>(storage: store).load() != nil,
            ]
            #expect(found.indices.filter { found[$0] } == [owner], "\(text)")
            // Logging out elsewhere leaves it alone.
            try await TokenStorage<OAuthToken>(storage: store).clear()
            #expect(store.data(for: Self.old) == Array(text.utf8))
        }
    }

    @Test func `A key of the program's own is read alone`() async throws {
        let store = InMemoryStorage()
        try await write(Self.bearer, store)
        #expect(try await TokenStorage<Token>(storage: store, key: "other").load() == nil)
        #expect(try await TokenStorage<Token>(storage: store, key: Self.old).load() == Token(value: "secret"))
        #expect(try await TokenStorage<Token>(storage: store, key: .token).load() == Token(value: "secret"))
    }

    @Test func `An old token is sent as the bearer it holds, and renewed`() async throws {
        let sent = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let line = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization:") }
                sent.append(String(line ?? ""))
                let isGood = request.head.contains("Bearer new\r\n")
                connection.write("HTTP/1.1 \(isGood ? 200 : 401) X\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let store = InMemoryStorage()
        try await write(Self.bearer, store)
        let tokens = TokenStorage<Token>(storage: store)
        let interceptor = AuthenticationInterceptor(tokenStorage: tokens, refreshStrategy: { _ in Token(value: "new") })
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        #expect(try await provider.send(HTTPRequest(.get, server.url)).status == 200)
        #expect(sent.values == ["Authorization: Bearer secret", "Authorization: Bearer new"])
        #expect(store.data(for: .token) == Array("new".utf8) && store.data(for: Self.old) == nil)
    }

    @Test func `Any order of saves and removals, by this process and the next, leaves the last`() async throws {
        let rounds = Rounds("MIGRATION", default: 200)
        var random = rounds.random
        for _ in 0..<rounds.count {
            let store: any KeyValueStorage = Bool.random(using: &random) ? Plain() : InMemoryStorage()
            try await write(Self.bearer, store)
            var expected: Token? = Token(value: "secret")
            var tokens = TokenStorage<Token>(storage: store)
            for step in 0..<8 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    expected = Token(value: "\(step)")
                    try await tokens.save(Token(value: "\(step)"))
                case 1:
                    expected = nil
                    try await tokens.clear()
                case 2:
                    let version = try await tokens.current().version
                    expected = Token(value: "\(step)")
                    #expect(try await tokens.save(expected, replacing: version))
                case 3:
                    let version = try await tokens.current().version
                    expected = nil
                    #expect(try await tokens.save(nil, replacing: version))
                case 4:
                    // Without a reference, the next storage has no memory, like another process.
                    tokens = TokenStorage<Token>(storage: store)
                default: break
                }
                #expect(try await tokens.load() == expected, "seed \(rounds.seed)")
            }
        }
    }
}
