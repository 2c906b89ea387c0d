// Errors: `NetworkError.serverError(response:data:) factory`
import Foundation
import NevodHostFoundation

private func head() -> HTTPURLResponse? {
    URL(string: "https://shop.example").flatMap {
        HTTPURLResponse(url: $0, statusCode: 404, httpVersion: nil, headerFields: nil)
    }
}

private func use() async throws {
    guard let head = head() else { return }
    let error = NetworkError.serverError(response: head, data: Data())
    print(error)
}
