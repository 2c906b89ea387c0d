// KeyValueStorage: `StorageKey.token`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let key = StorageKey.token
    print(key == .token)
}
