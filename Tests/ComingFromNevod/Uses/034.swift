// KeyValueStorage: `StorageKey(value:), .value, literal`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let key = StorageKey(value: "shop.session")
    let other: StorageKey = "shop.basket"
    print(key.value, other.value)
}
