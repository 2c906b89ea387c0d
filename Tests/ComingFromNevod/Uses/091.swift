// NetworkProvider: `post(_:body: non-Sendable class Encodable)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func provider() -> NetworkProvider {
        NetworkProvider.quick(baseURL: "https://shop.example")
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private final class Draft: Encodable {
        var name = "tea"
    }

    private func use() async throws {
        let item: Item = try await provider().post("/items", body: Draft())
        print(item)
    }
#else
    private func provider() -> NetworkProvider {
        NetworkProvider.quick(baseURL: "https://shop.example")
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private struct Draft: Encodable {
        var name = "tea"
    }

    private func use() async throws {
        let item: Item = try await provider().post("/items", body: Draft())
        print(item)
    }
#endif
