import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// A session begun by this process isn't mistaken for another process's, even if a read finds it before its save has returned.
struct BegunSessionTests {
    /// Calls a function within each write, after the value is stored.
    private final class ReadStorage: KeyValueStorage {
        private let base = InMemoryStorage()
        let onWrite = Locked<(@Sendable () async -> Void)?>(nil)

        func data(for key: StorageKey) async throws -> [UInt8]? { base.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) async throws {
            base.set(value, for: key)
            await onWrite.withLock { $0 }?()
        }
        func remove(for key: StorageKey) async throws { base.remove(for: key) }
    }

    @Test(arguments: [false, true]) func `A read during a save reports no session of another process`(isOther: Bool) async throws
    {
        let storage = ReadStorage()
        let tokens = SessionTokens(storage: storage)
        let begun = Collected<SessionIdentifier>()
        let registration = tokens.values.onEnd({ _ in }, begun: { begun.append($0) })
        #expect(try await tokens.values.record() == nil)
        storage.onWrite.withLock { $0 = { _ = try? await tokens.values.record() } }
        // A separate storage object acts like another process.
        let writer = isOther ? SessionTokens(storage: Twin(base: storage)) : tokens
        try await writer.storage.save(AuthTokens(accessToken: "a", refreshToken: "r"))
        #expect(begun.values.count == (isOther ? 1 : 0))
        withExtendedLifetime(registration) {}
    }

    private final class Twin: KeyValueStorage {
        private let base: ReadStorage

        init(base: ReadStorage) {
            self.base = base
        }

        func data(for key: StorageKey) async throws -> [UInt8]? { try await base.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) async throws { try await base.set(value, for: key) }
        func remove(for key: StorageKey) async throws { try await base.remove(for: key) }
    }
}
