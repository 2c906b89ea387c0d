// Authentication Guide: Keychain (Production)
import Foundation
import NevodHostFoundation

/// In place of the module Security, which Linux doesn't have.
private enum Keychain {
    static func copyMatching(_ query: [String: Any]) -> Data? { nil }
    static func add(_ query: [String: Any]) {}
    static func delete(_ query: [String: Any]) {}
}

private final class KeychainDrawer: KeyValueStorage {
    private let service: String

    init(service: String = Bundle.main.bundleIdentifier ?? "shop") {
        self.service = service
    }

    nonisolated func data(for key: StorageKey) -> Data? {
        let query: [String: Any] = ["service": service, "account": key.rawValue]
        return Keychain.copyMatching(query)
    }

    nonisolated func set(_ value: Data?, for key: StorageKey) {
        guard let value = value else {
            remove(for: key)
            return
        }
        Keychain.add(["service": service, "account": key.rawValue, "data": value])
    }

    nonisolated func remove(for key: StorageKey) {
        Keychain.delete(["service": service, "account": key.rawValue])
    }

    nonisolated func string(for key: StorageKey) -> String? {
        guard let data = data(for: key) else { return nil }
        return String(data: data, encoding: .utf8)
    }

    nonisolated func set(_ value: String?, for key: StorageKey) {
        set(value?.data(using: .utf8), for: key)
    }
}

private func use() async throws {
    print(TokenStorage<Token>(storage: KeychainDrawer()))
}
