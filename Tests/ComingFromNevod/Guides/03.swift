// Adding New Authentication Types: 1. Bearer Token (OAuth 2.0)
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = Token(value: "abc")
    print(token)
}
