internal import NevodHost

/// The handler of each level of a ``NevodLogger``; a level without a handler is not logged.
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

    /// All levels, to standard error: see `StandardErrorLogger`.
    public static var console: LoggerConfiguration {
        let logger = StandardErrorLogger(minimum: .debug)
        let handler: LogHandler = { context in
            let pairs = context.payload.sorted { $0.key < $1.key }.map { LogMetadata.Pair(name: $0.key, value: $0.value) }
            logger.write(context.level, context.message, LogMetadata(pairs))
        }
        return LoggerConfiguration(
            debugHandler: handler, infoHandler: handler, warningHandler: handler, errorHandler: handler)
    }

    /// No level.
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
