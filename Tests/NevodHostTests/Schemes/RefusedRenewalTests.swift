import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Files, which record whether the renewal lock was requested.
private final class WatchedStorage: CompareAndSwapStorage, RenewalLockingStorage {
    private let files: FileStorage
    private let calls = Locked(0)
    var wantsLock: Bool { calls.withLock { $0 > 0 } }

    init(_ files: FileStorage) { self.files = files }

    func data(for key: StorageKey) async throws -> [UInt8]? { try await files.data(for: key) }
    func remove(for key: StorageKey) async throws { try await files.remove(for: key) }
    func set(_ value: [UInt8]?, for key: StorageKey) async throws { try await files.set(value, for: key) }
    func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
        try await files.replace(expected, with: value, for: key)
    }
    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        calls.withLock { $0 += 1 }
        try await files.withRenewalLock(for: key, body)
    }
}

/// Tests that a refused renewal is a single attempt at the server, for all requests and processes that needed it.
struct RefusedRenewalTests {
    private let server: FlowServer

    init() throws {
        server = try FlowServer()
    }

    private func session(_ mode: String, _ storage: some KeyValueStorage = InMemoryStorage()) throws -> SchemeSession {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": .text(mode), "url": .text(server.url)])
        return SchemeSession(instance, storage: storage)
    }

    private func get(_ provider: NetworkProvider) async throws -> Int {
        try await provider.send(
            HTTPRequest(.get, "\(server.url)/api"), RequestOptions(redirects: .none, retryPolicy: RetryPolicy.none)
        ).status
    }

    private func provider(_ session: SchemeSession) -> NetworkProvider {
        NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
    }

    /// The errors of 100 requests. All have begun when the server refuses.
    private func failures(_ session: SchemeSession) async -> [String] {
        let beginnings = Beginnings(100)
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: InterceptorChain([beginnings, session.interceptor]))
        server.change { $0.refusesAfter = beginnings.areAll }
        defer { server.change { $0.refusesAfter = nil } }
        return await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { do { return "status \(try await get(provider))" } catch { return "\(error)" } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: [
        ("login-only", "401 X\r\n"), ("nonce-challenge", "401 X\r\nX-Fresh: 1\r\n"),
        ("nonce-challenge", "302 X\r\nX-Fresh: 1\r\n"),
    ])
    func `A hundred requests across an expiry cost one attempt, and each has the reason`(mode: String, refusal: String)
        async throws
    {
        let session = try session(mode)
        let provider = provider(session)
        #expect(try await get(provider) == 200)
        server.change { ($0.isExpired, $0.refusal, $0.refusesLogins, $0.refusals) = (true, refusal, true, [400]) }
        let failures = await failures(session)
        #expect(server.state.calls.count == 2, "\(server.state.calls)")
        #expect(Set(failures).count == 1, "\(Set(failures))")
        #expect(failures[0].contains("the server refused to renew the token: ") && failures[0].contains(" was refused"))
        #expect(try await session.tokenStorage.load() == nil)
        // A later request tries again.
        await #expect(throws: NetworkError.self) { try await get(provider) }
        #expect(server.state.calls.count == 3)
        server.change { $0.refusesLogins = false }
        #expect(try await get(provider) == 200)
    }

    @Test func `A hundred requests without a session cost one attempt`() async throws {
        let session = try session("login-only")
        let provider = provider(session)
        server.change { $0.refusesLogins = true }
        let failures = await failures(session)
        #expect(server.state.calls.count == 1)
        #expect(Set(failures).count == 1 && failures[0].contains(" was refused"), "\(Set(failures))")
        await #expect(throws: NetworkError.self) { try await get(provider) }
        #expect(server.state.calls.count == 2)
    }

    @Test func `Another process's refusal counts for those that wanted the same renewal, and for no other`() async throws {
        let folder = try TemporaryFolder()
        let (one, other) = (
            try session("login-only", FileStorage(directory: folder.path)),
            try session("login-only", FileStorage(directory: folder.path))
        )
        #expect(try await get(provider(one)) == 200)
        let wanted = try await other.coordinator.read().version
        server.change { ($0.isExpired, $0.refusesLogins) = (true, true) }
        let error = await #expect(throws: NetworkError.self) { try await get(provider(one)) }
        #expect(server.state.calls.count == 2)

        let outcome = try await other.coordinator.renew(wanted, isRefused: true, until: nil) { try await other.renewed($0) }
        guard case .refused(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(error?.description.hasSuffix("\(reason)") == true, "\(reason)")
        #expect(server.state.calls.count == 2)

        // A process that begins now hasn't waited, and knows nothing about the refusal.
        let later = try session("login-only", FileStorage(directory: folder.path))
        for session in [other, later] { await #expect(throws: NetworkError.self) { try await get(provider(session)) } }
        #expect(server.state.calls.count == 4)
        server.change { $0.refusesLogins = false }
        #expect(try await get(provider(later)) == 200)
        let note = try await FileStorage(directory: folder.path).data(for: StorageKey(value: "refused/\(later.key.rawValue)"))
        #expect(note == nil, "the note goes with the next token")
    }

    /// However long ago that was: the password may have changed since.
    @Test func `A request that finds the token cleared by another process tries itself`() async throws {
        let folder = try TemporaryFolder()
        let sessions = try (0..<2).map { _ in try session("login-only", FileStorage(directory: folder.path)) }
        for session in sessions { #expect(try await get(provider(session)) == 200) }
        server.change { ($0.isExpired, $0.refusesLogins) = (true, true) }
        await #expect(throws: NetworkError.self) { try await get(provider(sessions[0])) }
        server.change { $0.refusesLogins = false }
        #expect(try await get(provider(sessions[1])) == 200)
        #expect(server.state.calls.count == 3, "\(server.state.calls)")
    }

    /// A command with several URLs makes one attempt, and the next command makes another.
    @Test(arguments: ["login-only", "nonce-challenge"])
    func `The requests of one piece of work share an attempt, also those that begin later`(mode: String) async throws {
        var session = try session(mode)
        session.workBegan = .now
        let provider = provider(session)
        #expect(try await get(provider) == 200)
        server.change { state in
            (state.isExpired, state.refusal, state.refusesLogins, state.refusals) = (true, "401 X\r\nX-Fresh: 1\r\n", true, [400])
        }
        var reasons: Set<String> = []
        for _ in 0..<4 {
            let error = await #expect(throws: NetworkError.self) { try await get(provider) }
            reasons.insert("\(String(describing: error))")
        }
        #expect(server.state.calls.count == 2 && reasons.count == 1, "\(server.state.calls) \(reasons)")
        session.workBegan = .now
        await #expect(throws: NetworkError.self) { try await get(self.provider(session)) }
        #expect(server.state.calls.count == 3)
    }

    /// They would all try the same password, one after another.
    @Test func `Processes that wait for the lock without a token share an attempt`() async throws {
        let folder = try TemporaryFolder()
        let storages = try (0..<4).map { _ in WatchedStorage(try FileStorage(directory: folder.path)) }
        let sessions = try storages.map { try session("login-only", $0) }
        let isRefused = Latch()
        server.change { ($0.refusesLogins, $0.refusesAfter) = (true, isRefused) }
        let errors = await withTaskGroup { group in
            for session in sessions {
                group.addTask { await #expect(throws: NetworkError.self) { try await get(provider(session)) } }
            }
            // One has the lock, and the others wait for it.
            #expect(await eventually { storages.allSatisfy(\.wantsLock) })
            isRefused.set()
            return await group.reduce(into: []) { $0.append("\(String(describing: $1))") }
        }
        #expect(server.state.calls.count == 1, "\(server.state.calls)")
        #expect(errors.allSatisfy { $0.contains(" was refused") }, "\(errors)")
        // Later ones make their own attempt.
        server.change { ($0.refusesLogins, $0.refusesAfter) = (false, nil) }
        for session in sessions { #expect(try await get(provider(session)) == 200) }
        #expect(server.state.calls.count == 2)
    }

    @Test func `A note of a refusal names the token without telling it`() throws {
        let token = Secret("a token that nobody may see")
        let record = try #require(RefusalRecord(token, reason: "Wrong password"))
        let stored = record.stored
        let again = try #require(RefusalRecord(stored: stored))
        #expect(again.names(token) && !again.names(Secret("another")) && again.reason == "Wrong password")
        #expect(!stored.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.contains("nobody"))
        #expect(try #require(RefusalRecord(token, reason: "Wrong password")).stored != stored)
        for count in 0..<49 {
            let cut = stored.withUnsafeBytes { Array($0.prefix(count)) }
            #expect(RefusalRecord(stored: Secret(copying: cut)) == nil)
        }
        #expect(try #require(RefusalRecord(token, reason: String(repeating: "é", count: 10_000))).stored.count < 5000)
    }
}
