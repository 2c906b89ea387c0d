import NevodSupport
import Testing

@testable import NevodHost

struct TokenStorageTests {
    private let memory = InMemoryStorage()

    @Test func `A token can be saved, loaded and cleared`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        #expect(try await storage.load() == nil)
        try await storage.save(Token(value: "1"))
        #expect(try await storage.load() == Token(value: "1"))
        #expect(memory.data(for: .token) == Array("1".utf8))
        try await storage.clear()
        #expect(try await storage.load() == nil)
        #expect(memory.data(for: .token) == nil)
    }

    @Test func `Keys keep tokens apart`() async throws {
        let (one, two) = (TokenStorage<Token>(storage: memory, key: "1"), TokenStorage<Token>(storage: memory, key: "2"))
        try await one.save(Token(value: "a"))
        #expect(try await two.load() == nil)
    }

    @Test func `Types keep tokens apart that name no key`() async throws {
        let (bearer, key) = (TokenStorage<Token>(storage: memory), TokenStorage<APIKeyToken>(storage: memory))
        try await bearer.save(Token(value: "a"))
        #expect(try await key.load() == nil)
        try await key.save(APIKeyToken(apiKey: "k"))
        #expect(try await bearer.load() == Token(value: "a"))
        #expect(memory.data(for: "nevod.token.APIKeyToken") != nil)
    }

    @Test func `An empty storage reports no change`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        var changes = storage.changes.makeAsyncIterator()
        #expect(try await storage.load() == nil)
        try await storage.save(Token(value: "1"))
        #expect(await changes.next() == .some(Token(value: "1")))
    }

    @Test func `A write by others is read, as a new version`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        try await storage.save(Token(value: "1"))
        let before = try await storage.current().version
        #expect(try await storage.current().version == before)
        memory.set(Array("2".utf8), for: .token)
        #expect(try await storage.load() == Token(value: "2"))
        #expect(try await storage.current().version != before)
        memory.remove(for: .token)
        #expect(try await storage.load() == nil)
    }

    @Test func `Saving the same token keeps its version`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        try await storage.save(Token(value: "1"))
        let before = try await storage.current().version
        try await storage.save(Token(value: "1"))
        #expect(try await storage.current().version == before)
    }

    @Test func `A conditional save doesn't overwrite a change by others`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        try await storage.save(Token(value: "1"))
        let version = try await storage.current().version
        #expect(try await storage.save(Token(value: "2"), replacing: version))
        #expect(try await !storage.save(Token(value: "3"), replacing: version))
        #expect(try await storage.load() == Token(value: "2"))
        let second = try await storage.current().version
        memory.set(Array("other".utf8), for: .token)
        #expect(try await !storage.save(nil, replacing: second))
        #expect(try await storage.load() == Token(value: "other"))
    }

    @Test func `Changes are reported, to a slow reader the last one`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        var changes = storage.changes.makeAsyncIterator()
        try await storage.save(Token(value: "1"))
        #expect(await changes.next() == .some(Token(value: "1")))
        try await storage.save(Token(value: "2"))
        try await storage.clear()
        #expect(await changes.next() == .some(nil))
    }

    @Test func `Bytes that are no token are an error, not an empty storage`() async throws {
        memory.set(Array("header=X".utf8), for: .token)
        let storage = TokenStorage<APIKeyToken>(storage: memory, key: .token)
        let error = await #expect(throws: UnreadableTokenError.self) { try await storage.load() }
        #expect(error?.missing == "key")
    }

    @Test func `Concurrent saves leave the same token in memory and in storage`() async throws {
        let (memory, storage) = (memory, TokenStorage<Token>(storage: Slow(memory: memory)))
        await withTaskGroup { group in
            for number in 0..<50 { group.addTask { try? await storage.save(Token(value: "\(number)")) } }
            for _ in 0..<50 { group.addTask { _ = try? await storage.load() } }
        }
        #expect(try await storage.load()?.value == memory.data(for: .token).map { String(decoding: $0, as: UTF8.self) })
    }

    /// A storage that suspends before and after every operation.
    private struct Slow: KeyValueStorage {
        let memory: InMemoryStorage

        func data(for key: StorageKey) async throws -> [UInt8]? {
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
            defer { _ = key }
            let value = memory.data(for: key)
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
            return value
        }

        func set(_ value: [UInt8]?, for key: StorageKey) async throws {
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
            memory.set(value, for: key)
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
        }

        func remove(for key: StorageKey) async throws { memory.remove(for: key) }
    }

    /// A storage that rejects writes on demand.
    private final class Full: KeyValueStorage {
        struct NoSpace: Error {}
        let memory = InMemoryStorage()
        let isFull = Locked(false)

        func data(for key: StorageKey) -> [UInt8]? { memory.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) throws {
            guard !isFull.withLock({ $0 }) else { throw NoSpace() }
            memory.set(value, for: key)
        }
        func remove(for key: StorageKey) throws { try set(nil as [UInt8]?, for: key) }
    }

    @Test func `A renewed token that can't be written is used, and written when that works again`() async throws {
        let full = Full()
        let storage = TokenStorage<Token>(storage: full)
        try await storage.save(Token(value: "1"))
        full.isFull.withLock { $0 = true }
        await #expect(throws: Full.NoSpace.self) { try await storage.save(Token(value: "x")) }
        let outcome = try await storage.coordinator.renew(
            storage.current().version, isRefused: true, until: nil, by: { _ in Token(value: "2") })
        guard case .replaced = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(try await storage.load() == Token(value: "2"))
        #expect(full.memory.data(for: .token) == Array("1".utf8))
        full.isFull.withLock { $0 = false }
        #expect(try await storage.load() == Token(value: "2"))
        #expect(full.memory.data(for: .token) == Array("2".utf8))
    }

    @Test func `A token that could not be written doesn't overwrite a later write by others`() async throws {
        let full = Full()
        let storage = TokenStorage<Token>(storage: full)
        try await storage.save(Token(value: "1"))
        full.isFull.withLock { $0 = true }
        _ = try await storage.coordinator.renew(
            storage.current().version, isRefused: true, until: nil, by: { _ in Token(value: "2") })
        full.memory.set(Array("theirs".utf8), for: .token)
        full.isFull.withLock { $0 = false }
        #expect(try await storage.load() == Token(value: "theirs"))
    }
}
