import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct PreloadTests {
    /// Counts reads, and blocks or fails them.
    private final class SlowStorage: KeyValueStorage {
        struct Broken: Error {}

        private let base = InMemoryStorage()
        let reads = Collected<Int>()
        let isBroken = Locked(false)
        let gate = Locked<Latch?>(nil)

        func data(for key: StorageKey) async throws -> [UInt8]? {
            reads.append(1)
            let gate = gate.withLock { $0 }
            await gate?.wait()
            if isBroken.withLock({ $0 }) { throw Broken() }
            return base.data(for: key)
        }
        func set(_ value: [UInt8]?, for key: StorageKey) async throws { base.set(value, for: key) }
        func remove(for key: StorageKey) async throws { base.remove(for: key) }
    }

    private let backend: Backend
    private let storage = SlowStorage()
    private let app: JWTApp

    init() throws {
        backend = try Backend()
        backend.issueJWT()
        app = JWTApp(backend.url, storage: storage)
    }

    private func block() -> Latch {
        let latch = Latch()
        storage.gate.withLock { $0 = latch }
        return latch
    }

    @Test func `The tokens are read once, and others wait for them`() async throws {
        let tokens = try await app.logIn()
        let (gate, before) = (block(), storage.reads.values.count)
        for _ in 0..<10 { app.client.preloadTokens() }
        let sessions = (0..<10).map { _ in Task { try await app.client.loadSession() } }
        // A caller that leaves cancels nothing.
        sessions[0].cancel()
        await #expect(throws: CancellationError.self) { try await sessions[0].value }
        #expect(await eventually { storage.reads.values.count == before + 1 && app.client.preload.waitingCount == 10 })
        gate.set()
        for session in sessions.dropFirst() { #expect(try await session.value == .valid(tokens)) }
        // Then each caller checks again whether the session is still the one that was read.
        #expect(storage.reads.values.count == before + 10)
    }

    @Test func `A token that is due is renewed, once with the requests that need it`() async throws {
        backend.setLifetime(-10)
        let old = try await app.logIn()
        backend.setLifetime(3600)
        app.client.preloadTokens()
        let session = try await app.client.loadSession()
        #expect(session.isValid && session.tokens != old)
        let sports: SuccessResponse<[Sport]> = try await app.client.sendAuthenticated(.get("/sports"))
        #expect(sports.data.count == 2 && backend.requests(to: "/auth/refresh").count == 1)
        #expect(backend.log.last?.bearer == session.tokens?.access)
    }

    @Test func `A failure is not kept`() async throws {
        let tokens = try await app.logIn()
        storage.isBroken.withLock { $0 = true }
        app.client.preloadTokens()
        await #expect(throws: SlowStorage.Broken.self) { try await app.client.loadSession() }
        storage.isBroken.withLock { $0 = false }
        #expect(try await app.client.loadSession() == .valid(tokens))
        app.client.preloadTokens()
        #expect(try await app.client.loadSession() == .valid(tokens))
        // A failed renewal, such as without a network, doesn't affect callers that only read.
        backend.setLifetime(-10)
        let expired = try await app.logIn()
        backend.setRefresh(.offline)
        app.client.preloadTokens()
        #expect(try await app.client.loadSession() == .expired(expired))
    }

    @Test func `A logout during it is not undone`() async throws {
        try await app.logIn()
        let (gate, before) = (block(), storage.reads.values.count)
        app.client.preloadTokens()
        let session = Task { try await app.client.loadSession() }
        #expect(await eventually { storage.reads.values.count == before + 1 && app.client.preload.waitingCount == 1 })
        storage.gate.withLock { $0 = nil }
        try await app.client.clearSession()
        gate.set()
        #expect(try await session.value == .missing)
        #expect(try await app.client.loadSession() == .missing)
    }
}
