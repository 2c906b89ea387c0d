// Errors: `NetworkError.clientError(code:data:response:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let head: HTTPURLResponse? = nil
    let errors: [NetworkError] = [
        NetworkError.clientError(code: 404, data: nil, response: nil),
        NetworkError.clientError(code: 404, data: Data("{}".utf8), response: head),
    ]
    print(errors)
}
