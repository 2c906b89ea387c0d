// Logger: `LoggerConfiguration(debugHandler:...)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let config = LoggerConfiguration(
        debugHandler: nil, infoHandler: { context in print(context.message) }, warningHandler: { print($0.payload) },
        errorHandler: { print($0.level) })
    print(config)
}
