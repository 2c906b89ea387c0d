import NevodHost
import NevodSupport

/// Remembers whether a store was made with this key, to say so once: an empty file, or an empty database on a server, doesn't tell
/// before it is opened.
final class NotedKeySource: StoreKeySource {
    private let source: any StoreKeySource
    private let isMade = Locked(false)

    init(_ source: any StoreKeySource) {
        self.source = source
    }

    var kind: String { source.kind }
    var description: String { source.description }
    var hasMadeStore: Bool { isMade.withLock(\.self) }

    func isAvailable() async -> Bool { await source.isAvailable() }

    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        let key = try await source.key(for: store, salt: salt, isNew: isNew)
        if isNew { isMade.withLock { $0 = true } }
        return key
    }
}
