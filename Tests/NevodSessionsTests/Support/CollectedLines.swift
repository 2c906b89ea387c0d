import NevodHost
import NevodTestSupport

/// A logger that keeps its lines, each with its metadata.
struct CollectedLines: NetworkLogger {
    private let collected = Collected<String>()

    var lines: [String] { collected.values }

    func isEnabled(_ level: LogLevel) -> Bool { true }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        collected.append("\(level) \(message) \(metadata.pairs.map { "\($0.name)=\($0.value)" }.joined(separator: " "))")
    }
}
