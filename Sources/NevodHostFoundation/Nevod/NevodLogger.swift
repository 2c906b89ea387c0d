internal import Foundation
public import NevodHost

/// Passes each line to the handler of its level. A line without a handler is never built.
///
/// ```swift
/// let logger = NevodLogger(config: LoggerConfiguration(errorHandler: { context in report(context.message) }))
/// ```
public struct NevodLogger: NetworkLogger {
    private let config: LoggerConfiguration

    /// Creates a logger; by default, it writes to standard error.
    public init(config: LoggerConfiguration = .console) {
        self.config = config
    }

    public func isEnabled(_ level: LogLevel) -> Bool {
        config.handler(of: level) != nil
    }

    public func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        let payload = Dictionary(metadata.pairs.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        config.handler(of: level)?(LogContext(level: level, message: message, payload: payload, file: "", function: "", line: 0))
    }

    /// Logs a line with the place of the call.
    public func debug(
        _ message: String, payload: [String: String] = [:], file: String = #file, function: String = #function,
        line: Int = #line
    ) {
        log(.debug, message, payload, file, function, line)
    }

    /// Logs a line with the place of the call.
    public func info(
        _ message: String, payload: [String: String] = [:], file: String = #file, function: String = #function,
        line: Int = #line
    ) {
        log(.info, message, payload, file, function, line)
    }

    /// Logs a line with the place of the call.
    public func warning(
        _ message: String, payload: [String: String] = [:], file: String = #file, function: String = #function,
        line: Int = #line
    ) {
        log(.warning, message, payload, file, function, line)
    }

    /// Logs a line with the place of the call.
    public func error(
        _ message: String, payload: [String: String] = [:], file: String = #file, function: String = #function,
        line: Int = #line
    ) {
        log(.error, message, payload, file, function, line)
    }

    private func log(
        _ level: LogLevel, _ message: String, _ payload: [String: String], _ file: String, _ function: String, _ line: Int
    ) {
        config.handler(of: level)?(
            LogContext(level: level, message: message, payload: payload, file: file, function: function, line: line))
    }
}
