// Routes: `HTTPMethod exhaustive switch`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func isSafe(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get: true
        case .post, .put, .patch, .delete: false
        }
    }

    private func use() async throws {
        print(isSafe(.get))
    }
#else
    private func isSafe(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get: true
        case .post, .put, .patch, .delete: false
        default: false
        }
    }

    private func use() async throws {
        print(isSafe(.get))
    }
#endif
