// Routes: `HTTPMethod.stringValue`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let text: String = HTTPMethod.post.stringValue
    print(text)
}
