// Errors: `catch case .unauthorized(let data: Data?, let response: HTTPURLResponse?)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func failure() -> NetworkError {
        .unauthorized
    }

    private func use() async throws {
        do { throw failure() } catch NetworkError.unauthorized(let data, let response) {
            let body: Data? = data
            let head: HTTPURLResponse? = response
            print(body?.count ?? 0, head?.statusCode ?? 0)
        }
    }
#else
    private func failure() -> NetworkError {
        .unauthorized
    }

    private func use() async throws {
        do { throw failure() } catch let error as NetworkError where error == .unauthorized {
            let body: Data? = error.responseData
            let head: HTTPURLResponse? = error.httpResponse
            print(body?.count ?? 0, head?.statusCode ?? 0)
        }
    }
#endif
