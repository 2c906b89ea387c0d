// Logger: `NevodLogger()`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let logger = NevodLogger()
    logger.info("cart opened", payload: ["items": "2"])
}
