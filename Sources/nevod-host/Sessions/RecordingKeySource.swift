import NevodHost
import NevodSupport

/// Records whether a store was created with this key, so that the command can report it: an existing file or database may still be
/// empty, which is known only after it is opened.
final class RecordingKeySource: StoreKeySource {
    private let source: any StoreKeySource
    private let isCreated = Locked(false)
    private let failure = Locked(false)

    init(_ source: any StoreKeySource) {
        self.source = source
    }

    var kind: String { source.kind }
    var description: String { source.description }
    /// Whether the key of an existing store could not be had.
    var hasLostKey: Bool { failure.withLock(\.self) }
    var hasCreatedStore: Bool { isCreated.withLock(\.self) }

    func isAvailable() async -> Bool { await source.isAvailable() }

    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        let key: Secret
        do { key = try await source.key(for: store, salt: salt, isNew: isNew) } catch {
            failure.withLock { $0 = !isNew && error is StorageError }
            throw error
        }
        if isNew { isCreated.withLock { $0 = true } }
        return key
    }

    func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? { await source.count(of: store, salt: salt) }

    func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {
        await source.keep(count, of: store, salt: salt, hasRemoved: hasRemoved)
    }
}
