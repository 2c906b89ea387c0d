import NevodSessions

/// The app's own service in the cloud.
protocol CloudService: Sendable {
    func load(_ name: String) async throws -> [UInt8]?
    func save(_ bytes: [UInt8]?, _ name: String) async throws
}

struct CloudStorage<Service: CloudService>: KeyValueStorage {
    let service: Service

    func data(for key: StorageKey) async throws -> [UInt8]? { try await service.load(key.rawValue) }
    func set(_ value: [UInt8]?, for key: StorageKey) async throws { try await service.save(value, key.rawValue) }
    func remove(for key: StorageKey) async throws { try await set(nil as [UInt8]?, for: key) }
}

func makeStorage(_ service: some CloudService, folder: String) async throws -> some KeyValueStorage {
    let layers = LayeredStorage(
        remote: CloudStorage(service: service), local: try FileStorage(directory: "\(folder)/copy"))
    // The cloud and the copy hold only sealed values.
    return try await SealingStorage(layers, key: KeyFile(path: "\(folder)/storage.key"))
}
