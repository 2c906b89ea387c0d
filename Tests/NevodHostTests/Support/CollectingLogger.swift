import NevodTestSupport

@testable import NevodHost

/// Keeps the written lines.
final class CollectingLogger: NetworkLogger {
    struct Entry: Sendable {
        let level: LogLevel
        let message: String
        let metadata: LogMetadata

        /// Everything that a log would show.
        var text: String { LogLine.text(message, metadata) }
    }

    let minimum: LogLevel
    private let collected = Collected<Entry>()

    init(minimum: LogLevel = .debug) {
        self.minimum = minimum
    }

    var entries: [Entry] { collected.values }

    func isEnabled(_ level: LogLevel) -> Bool { level >= minimum }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        collected.append(Entry(level: level, message: message, metadata: metadata))
    }
}
