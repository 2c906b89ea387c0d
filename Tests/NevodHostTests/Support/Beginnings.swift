import NevodSupport
import NevodTestSupport

@testable import NevodHost

/// Counts the requests that have begun, for a server that goes on when all have begun.
final class Beginnings: RequestInterceptor {
    let areAll = Latch()
    private let missing: Locked<Int>

    init(_ count: Int) {
        missing = Locked(count)
    }

    func adapt(_ exchange: inout Exchange) async throws {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { areAll.set() }
    }
}
