// Errors: `.timeout/.noConnection/.cancelled/.invalidURL/.bodyEncodingFailed/.authenticationFailed values`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let errors: [NetworkError] = [
        .timeout, .noConnection, .cancelled, .invalidURL, .bodyEncodingFailed, .authenticationFailed,
    ]
    print(errors.count)
}
