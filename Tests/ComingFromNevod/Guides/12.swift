// Adding New Authentication Types: Testing
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private struct PlainToken: TokenModel {
        let value: String

        func authorize(_ request: inout URLRequest) {
            request.setValue("Plain-\(value)", forHTTPHeaderField: "Authorization")
        }

        func encode() throws -> Data { value.data(using: .utf8)! }
        static func decode(from data: Data) throws -> Self {
            PlainToken(value: String(data: data, encoding: .utf8)!)
        }
    }

    private func use() async throws {
        let storage = TokenStorage<PlainToken>(storage: InMemoryStorage())
        await storage.save(PlainToken(value: "abc"))
    }
#else
    private struct PlainToken: TokenModel {
        let value: String

        func authorize(_ request: inout URLRequest) {
            request.setValue("Plain-\(value)", forHTTPHeaderField: "Authorization")
        }

        func encode() throws -> Data { value.data(using: .utf8)! }
        static func decode(from data: Data) throws -> Self {
            PlainToken(value: String(data: data, encoding: .utf8)!)
        }
    }

    private func use() async throws {
        let storage = TokenStorage<PlainToken>(storage: InMemoryStorage())
        try await storage.save(PlainToken(value: "abc"))
    }
#endif
