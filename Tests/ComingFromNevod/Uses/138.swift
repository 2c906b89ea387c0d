// Errors: `pattern .parsingError(let data, let error)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func failure() -> NetworkError {
        .unauthorized
    }

    private func use() async throws {
        if case .parsingError(let data, let error) = failure() { print(data?.count ?? 0, error) }
    }
#else
    private func failure() -> NetworkError {
        .unauthorized
    }

    private func use() async throws {
        if case .parsingError(let error, let data, _) = failure() { print(data?.count ?? 0, error) }
    }
#endif
