// Logger: `LogHandler`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let handler: LogHandler = { context in print(context.message) }
    print(LoggerConfiguration(errorHandler: handler))
}
