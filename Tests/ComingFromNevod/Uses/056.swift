// Logger: `NevodLogger(config: .console)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let logger = NevodLogger(config: .console)
    logger.error("cart lost")
}
