import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Storages that fail, or that other processes change, at the worst moments.
struct TokenStorageHostileTests {
    private struct Down: Error {}

    /// A storage that fails and waits where a test says.
    private final class Moody: CompareAndSwapStorage {
        struct Mood {
            var failsToRead = false
            var failsToWrite = false
            var failsToReplace = false
            /// The value that another writer stores right after the next read.
            var theirs: [UInt8]?
            /// The latch that the next write sets, and the latch for which it then waits.
            var pause: (reached: Latch, goOn: Latch)?
        }

        let memory = InMemoryStorage()
        let mood = Locked(Mood())
        let replacements = Collected<Bool>()

        func set(_ change: (inout Mood) -> Void) { mood.withLock { change(&$0) } }

        func data(for key: StorageKey) throws -> [UInt8]? {
            if mood.withLock({ $0.failsToRead }) { throw Down() }
            let theirs = mood.withLock { mood in
                defer { mood.theirs = nil }
                return mood.theirs
            }
            defer { if let theirs { memory.set(theirs, for: key) } }
            return memory.data(for: key)
        }

        func set(_ value: [UInt8]?, for key: StorageKey) async throws {
            if mood.withLock({ $0.failsToWrite }) { throw Down() }
            memory.set(value, for: key)
            let pause = mood.withLock { mood in
                defer { mood.pause = nil }
                return mood.pause
            }
            pause?.reached.set()
            await pause?.goOn.wait()
        }

        func remove(for key: StorageKey) async throws { try await set(nil as [UInt8]?, for: key) }

        func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) throws -> Bool {
            if mood.withLock({ $0.failsToReplace }) { throw Down() }
            let isDone = memory.replace(expected, with: value, for: key)
            replacements.append(isDone)
            return isDone
        }
    }

    private let moody = Moody()

    private var stored: String? { moody.memory.data(for: .token).map { String(decoding: $0, as: UTF8.self) } }

    private func renew(
        _ storage: TokenStorage<Token>, _ strategy: @escaping @Sendable (Token?) async throws -> Token
    ) async throws -> RenewalOutcome {
        try await storage.coordinator.renew(
            storage.current().version, isRefused: true, until: .now + .seconds(20), by: strategy)
    }

    @Test func `While a token can't be written, renewals go on, and the latest is written in the end`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        moody.set { $0.failsToReplace = true }
        for next in ["2", "3", "4"] {
            let outcome = try await renew(storage) { _ in Token(value: next) }
            guard case .replaced = outcome else { return #expect(Bool(false), "\(outcome)") }
            #expect(try await storage.load()?.value == next)
        }
        #expect(stored == "1")
        moody.set { $0.failsToReplace = false }
        #expect(try await storage.load()?.value == "4")
        #expect(stored == "4")
    }

    @Test func `A refusal is logged with the server's reason`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        let logger = CollectingLogger()
        let version = try await storage.coordinator.read().version
        _ = try await storage.coordinator.renew(
            version, isRefused: true, until: nil, by: { _ in throw RefreshRejectedError("the user has left") }, logger)
        let warnings = logger.entries.filter { $0.level == .warning }
        #expect(warnings.count == 1)
        #expect(warnings.first?.text.contains("log in again") == true)
        #expect(warnings.first?.text.contains("the user has left") == true)
    }

    @Test func `A refusal of a token that couldn't be written clears the one that is stored`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        moody.set { $0.failsToReplace = true }
        _ = try await renew(storage) { _ in Token(value: "2") }
        let moody = moody
        let outcome = try await renew(storage) { _ in
            moody.set { $0.failsToReplace = false }
            throw RefreshRejectedError("revoked")
        }
        guard case .refused = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(try await storage.load() == nil)
        #expect(stored == nil)
    }

    @Test func `A conditional save doesn't overwrite a write made during it`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        let version = try await storage.current().version
        moody.set { $0.theirs = Array("theirs".utf8) }
        #expect(try await !storage.save(Token(value: "2"), replacing: version))
        #expect(stored == "theirs")
    }

    @Test func `After a logout, a renewed token that couldn't be written is not kept`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        let moody = moody
        let outcome = try await renew(storage) { _ in
            try await storage.clear()
            moody.set { $0.failsToRead = true }
            return Token(value: "2")
        }
        guard case .replaced = outcome else { return #expect(Bool(false), "\(outcome)") }
        moody.set { $0.failsToRead = false }
        #expect(try await storage.load() == nil)
        #expect(stored == nil)
    }

    @Test func `A logout overtakes the late save of a token, which stays away`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        moody.set { $0.failsToReplace = true }
        // The first token replaces no value, which is also the state after a logout.
        _ = try await renew(storage) { _ in Token(value: "1") }
        moody.set { $0.failsToReplace = false }
        let (reached, goOn) = (Latch(), Latch())
        moody.set { $0.pause = (reached, goOn) }
        let logout = Task { try await storage.clear() }
        await reached.wait()
        let readers = (0..<4).map { _ in Task { try await storage.load() } }
        #expect(await eventually { storage.coordinator.writing.waitingCount == 4 })
        goOn.set()
        try await logout.value
        for reader in readers { #expect(try await reader.value == nil) }
        #expect(stored == nil)
    }

    @Test func `A token is written late once, and stays the same version`() async throws {
        let storage = TokenStorage<Token>(storage: moody)
        try await storage.save(Token(value: "1"))
        moody.set { $0.failsToReplace = true }
        _ = try await renew(storage) { _ in Token(value: "2") }
        let version = try await storage.current().version
        // Both find the token unsaved. The second waits for the first.
        let (reached, goOn) = (Latch(), Latch())
        let holder = Task {
            try await storage.coordinator.writing.withLock {
                reached.set()
                await goOn.wait()
            }
        }
        await reached.wait()
        moody.set { $0.failsToReplace = false }
        let readers = (0..<4).map { _ in Task { try await storage.current().version } }
        #expect(await eventually { storage.coordinator.writing.waitingCount == 4 })
        goOn.set()
        try await holder.value
        for reader in readers { #expect(try await reader.value == version) }
        #expect(moody.replacements.values == [true])
        #expect(stored == "2")
    }

    /// Counts the observers.
    private final class Listened: ObservableStorage {
        let memory = InMemoryStorage()
        let (began, ended) = (Latch(), Latch())

        func data(for key: StorageKey) -> [UInt8]? { memory.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) { memory.set(value, for: key) }
        func remove(for key: StorageKey) { memory.remove(for: key) }
        func changes() -> AsyncStream<StorageKey> {
            let (stream, continuation) = AsyncStream.makeStream(of: StorageKey.self)
            continuation.onTermination = { [ended] _ in ended.set() }
            began.set()
            return stream
        }
    }

    @Test func `A reader of changes leaves no observer behind when its storage is freed`() async throws {
        let listened = Listened()
        var storage: TokenStorage<Token>? = TokenStorage(storage: listened)
        let changes = try #require(storage?.changes)
        await listened.began.wait()
        storage = nil
        for await _ in changes {}
        await listened.ended.wait()
    }
}
