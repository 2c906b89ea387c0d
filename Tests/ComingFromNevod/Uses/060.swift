// Logger: `LogLevel.debug/.info/.warning/.error`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let levels: [LogLevel] = [.debug, .info, .warning, .error]
    print(levels.count)
}
