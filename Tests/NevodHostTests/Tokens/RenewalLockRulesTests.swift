import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests how long a renewal prevents other processes that share the storage from renewing. Two storages over one folder act like
/// two processes.
@Suite(.blocking) struct RenewalLockRulesTests {
    /// A folder of files on a device that a test can make full.
    private final class Filling: CompareAndSwapStorage, RenewalLockingStorage {
        let files: FileStorage
        let isFull = Locked(false)
        let isAway = Locked(false)
        /// Whether another process has taken over the renewal lock.
        let isTakenOver = Locked(false)
        private let refused = Locked(0)
        var refusedCount: Int { refused.withLock { $0 } }

        init(_ files: FileStorage) { self.files = files }

        private func check() throws {
            let isAway = isAway.withLock(\.self)
            guard isAway || isFull.withLock(\.self) else { return }
            refused.withLock { $0 += 1 }
            throw StorageError(isAway ? .unavailable : .full, "the device", problem: "is full, or away")
        }

        func data(for key: StorageKey) async throws -> [UInt8]? { try await files.data(for: key) }
        func remove(for key: StorageKey) async throws { try await set(nil as [UInt8]?, for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) async throws {
            try check()
            try await files.set(value, for: key)
        }
        func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
            try check()
            return try await files.replace(expected, with: value, for: key)
        }
        func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
            try await files.withRenewalLock(for: key, body)
        }
        func confirmRenewalLock(for key: StorageKey) async throws {
            guard isTakenOver.withLock({ $0 }) else { return }
            isTakenOver.withLock { $0 = false }
            throw StorageError(.busy, "the lock", problem: "was taken over")
        }
    }

    private let folder: TemporaryFolder
    private let one: Filling
    private let other: FileStorage

    init() throws {
        folder = try TemporaryFolder()
        one = Filling(try FileStorage(directory: folder.path))
        other = try FileStorage(directory: folder.path)
    }

    @Test func `While a renewed token can't be saved, no process exchanges the old one again`() async throws {
        let (mine, theirs) = (TokenStorage<Token>(storage: one), TokenStorage<Token>(storage: other))
        try await mine.save(Token(value: "1"))
        let version = try await mine.current().version
        let theirVersion = try await theirs.current().version
        one.isFull.withLock { $0 = true }
        let outcome = try await mine.coordinator.renew(version, isRefused: true, until: nil) { _ in Token(value: "2") }
        guard case .replaced = outcome else { return #expect(Bool(false), "\(outcome)") }
        // A reader gets the token immediately, although it couldn't be saved.
        #expect(try await mine.load()?.value == "2")
        let exchanges = Collected<Token?>()
        async let theirOutcome = theirs.coordinator.renew(theirVersion, isRefused: true, until: nil) { old in
            exchanges.append(old)
            return Token(value: "3")
        }
        let refused = one.refusedCount
        #expect(await eventually { one.refusedCount >= refused + 2 })
        one.isFull.withLock { $0 = false }
        _ = try await theirOutcome
        #expect(exchanges.values.isEmpty)
        #expect(try await theirs.load()?.value == "2")
        #expect(!mine.coordinator.hasUnsaved)
    }

    @Test func `While the storage is away, the lock is kept for longer than for any other failure`() async throws {
        let key: StorageKey = "session"
        let coordinator = TokenCoordinator<Token>(AnyKeyValueStorage(one), key, savingTimeout: .milliseconds(100))
        let locks = RenewalLocks(path: "\(folder.path)/.renewals")
        for isKept in [true, false] {
            func setFault(_ isSet: Bool) {
                if isKept { one.isAway.withLock { $0 = isSet } } else { one.isFull.withLock { $0 = isSet } }
            }
            try await coordinator.write(Token(value: "1"))
            let version = try await coordinator.read().version
            setFault(true)
            let before = one.refusedCount
            _ = try await coordinator.renew(version, isRefused: true, until: nil) { _ in Token(value: "2") }
            // The pauses between these attempts are longer than the timeout.
            #expect(await eventually { one.refusedCount >= before + (isKept ? 5 : 2) })
            if isKept {
                await #expect(throws: StorageError.self) {
                    try await locks.withLock(for: key, timeout: .milliseconds(20)) { Issue.record("it is free") }
                }
            } else {
                let isFree = Locked(false)
                try await locks.withLock(for: key) { isFree.withLock { $0 = true } }
                #expect(isFree.withLock { $0 })
            }
            setFault(false)
            #expect(
                try await eventually {
                    _ = try await coordinator.read()
                    return !coordinator.hasUnsaved
                })
            try await locks.withLock(for: key) {}
        }
    }

    @Test func `A renewal that another process takes over before it has sent anything stops, and uses the other's token`()
        async throws
    {
        let requests = Collected<Int>()
        let server = try RawServer { connection, index in
            guard connection.readRequest() != nil else { return }
            requests.append(index)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            _ = connection.waitForEnd()
        }
        let (mine, theirs) = (TokenStorage<Token>(storage: one), TokenStorage<Token>(storage: other))
        let provider = NetworkProvider(session: CurlSession())
        let one = one
        func renew(takingOverBefore number: Int, then value: String) async throws -> RenewalOutcome {
            let version = try await mine.current().version
            return try await mine.coordinator.renew(version, isRefused: true, until: nil) { _ in
                for request in 0..<2 {
                    if request == number {
                        one.isTakenOver.withLock { $0 = true }
                        try await theirs.save(Token(value: value))
                    }
                    _ = try await provider.send(HTTPRequest(.post, "http://\(server.authority)/token"))
                }
                return Token(value: "mine")
            }
        }
        try await mine.save(Token(value: "1"))
        guard case .replaced = try await renew(takingOverBefore: 0, then: "theirs") else { return #expect(Bool(false)) }
        #expect(requests.values.isEmpty)
        #expect(try await mine.load()?.value == "theirs")
        // After a request has spent the token, the renewal goes on.
        _ = try await renew(takingOverBefore: 1, then: "theirs again")
        #expect(!requests.values.isEmpty)
        #expect(one.isTakenOver.withLock { $0 })
    }

    @Test func `No request waits for an interactive login`() async throws {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": "password"])
        /// While this person thinks, another process takes the lock and stores another token.
        struct Person: UserInteraction {
            let meanwhile: @Sendable () async throws -> Void

            func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
                try await meanwhile()
                return Dictionary(uniqueKeysWithValues: questions.map { ($0.name, Secret("pw")) })
            }

            func show(_ text: String, url: String) async throws {}
            func open(_ url: String) async throws {}
        }
        let (key, other): (StorageKey, FileStorage) = ("session", other)
        let theirs = try PluginToken(
            stored: IssuedToken(bytes: Secret("theirs"), expiresAt: nil, account: ""), instance.purpose
        ).encode()
        let isTaken = Locked(false)
        let session = SchemeSession(
            instance, storage: one, key: key,
            interaction: Person {
                try await other.withRenewalLock(for: key) {
                    isTaken.withLock { $0 = true }
                    try? await other.set(theirs, for: key)
                }
            })
        let version = try await session.coordinator.read().version
        _ = try await session.coordinator.renew(version, isRefused: true, until: nil) { try await session.renewed($0) }
        #expect(isTaken.withLock { $0 })
        // The other process's token was stored first, so it is used.
        #expect(try await session.tokenStorage.load()?.issued.bytes == Secret("theirs"))
    }

    @Test func `A waiter that gives up the lock doesn't hold it`() async throws {
        let (mine, theirs) = (TokenStorage<Token>(storage: one), TokenStorage<Token>(storage: other))
        let (held, free) = (Latch(), Latch())
        async let holding: Void = theirs.coordinator.withRenewalLock { _ in
            held.set()
            await free.wait()
        }
        await held.wait()
        let waiting = Task { try await mine.coordinator.withRenewalLock { _ in Issue.record("it was cancelled") } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        free.set()
        try await holding
        try await theirs.coordinator.withRenewalLock { _ in }
        try await mine.coordinator.withRenewalLock { _ in }
    }
}
