// KeyValueStorage: `any KeyValueStorage: sync data(for:)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func use() async throws {
        let store: any KeyValueStorage = UserDefaultsStorage()
        let data: Data? = store.data(for: .token)
        print(data == nil)
    }
#else
    private func use() async throws {
        let store: any KeyValueStorage = UserDefaultsStorage()
        let data: Data? = try await store.data(for: .token).map { Data($0) }
        print(data == nil)
    }
#endif
