import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests how long a renewal keeps other processes that share the storage from renewing. Two storages over one folder act
/// like two processes.
@Suite(.blocking) struct RenewalLockRulesTests {
    /// A folder of files on a device that a test can make full.
    private final class Filling: CompareAndSwapStorage, RenewalLockingStorage {
        let files: FileStorage
        let isFull = Locked(false)
        private let refused = Locked(0)
        var refusedCount: Int { refused.withLock { $0 } }

        init(_ files: FileStorage) { self.files = files }

        private func check() throws {
            guard isFull.withLock(\.self) else { return }
            refused.withLock { $0 += 1 }
            throw StorageError(.full, "the device", problem: "is full")
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
