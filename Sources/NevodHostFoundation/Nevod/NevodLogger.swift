public import Foundation
public import NevodHost

/// Passes each line to the handler of its level. A line that no handler takes is never built.
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

/// The handler of each level of a ``NevodLogger``. A level without a handler is not logged.
public struct LoggerConfiguration: Sendable {
    /// Receives lines of level `debug`.
    public let debugHandler: LogHandler?
    /// Receives lines of the levels `info` and `notice`.
    public let infoHandler: LogHandler?
    /// Receives lines of level `warning`.
    public let warningHandler: LogHandler?
    /// Receives lines of level `error`.
    public let errorHandler: LogHandler?

    /// Creates a configuration; nil leaves out a level.
    public init(
        debugHandler: LogHandler? = nil, infoHandler: LogHandler? = nil, warningHandler: LogHandler? = nil,
        errorHandler: LogHandler? = nil
    ) {
        self.debugHandler = debugHandler
        self.infoHandler = infoHandler
        self.warningHandler = warningHandler
        self.errorHandler = errorHandler
    }

    /// Logs all levels to standard error: see `StandardErrorLogger`.
    public static var console: LoggerConfiguration {
        let logger = StandardErrorLogger(minimum: .debug)
        let handler: LogHandler = { context in
            let pairs = context.payload.sorted { $0.key < $1.key }.map { LogMetadata.Pair(name: $0.key, value: $0.value) }
            logger.write(context.level, context.message, LogMetadata(pairs))
        }
        return LoggerConfiguration(
            debugHandler: handler, infoHandler: handler, warningHandler: handler, errorHandler: handler)
    }

    /// Logs nothing.
    public static var silent: LoggerConfiguration { LoggerConfiguration() }

    func handler(of level: LogLevel) -> LogHandler? {
        switch level {
        case .debug: debugHandler
        case .info, .notice: infoHandler
        case .warning: warningHandler
        case .error: errorHandler
        }
    }
}

/// Receives lines of a log, on any thread, and concurrently. A ``LoggerConfiguration`` has one for each level.
public typealias LogHandler = @Sendable (LogContext) -> Void

/// One line of a log, as a ``LogHandler`` receives it.
public struct LogContext: Sendable {
    /// The severity.
    public let level: LogLevel
    /// The text. May hold line breaks and control characters that a server sent.
    public let message: String
    /// The named values of the line. Values of one name are joined by a comma.
    public let payload: [String: String]
    /// The source file of the call; empty for a line of the library.
    public let file: String
    /// The function of the call; empty for a line of the library.
    public let function: String
    /// The line of the call; 0 for a line of the library.
    public let line: Int
    /// When the line was logged.
    public let timestamp: Date

    /// Creates a line, for tests of a handler.
    public init(
        level: LogLevel, message: String, payload: [String: String] = [:], file: String = #file,
        function: String = #function, line: Int = #line, timestamp: Date = Date()
    ) {
        self.level = level
        self.message = message
        self.payload = payload
        self.file = file
        self.function = function
        self.line = line
        self.timestamp = timestamp
    }
}

extension LoggingInterceptor {
    /// Creates an interceptor that logs to standard error, without headers and bodies.
    public init() {
        self.init(logger: NevodLogger())
    }

    /// Creates an interceptor that also hides values under names of your own.
    ///
    /// - Parameters:
    ///   - logger: receives responses with a status below 400 as `info`, others as `warning`, and failures as `error`.
    ///   - hideHeaderFields: hidden in addition to `RedactedNames.default`, which can't be switched off here.
    public init(logger: some NetworkLogger = NevodLogger(), hideHeaderFields: some Sequence<String>) {
        self.init(logger: logger, logLevel: .detailed, redacting: RedactedNames.default.adding(hideHeaderFields))
    }
}
