// Logger: `LogContext`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let context = LogContext(level: .info, message: "cart opened", payload: ["items": "2"])
    print(context.message, context.payload, context.file, context.function, context.line, context.timestamp)
}
