// Errors: `NetworkError.parsingError(data:error:) factory`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.parsingError(data: Data(), error: URLError(.cannotParseResponse))
    print(error)
}
