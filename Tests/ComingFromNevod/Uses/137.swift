// Errors: `.parsingError(data:underlyingError:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.parsingError(data: Data(), underlyingError: URLError(.cannotParseResponse))
    print(error)
}
