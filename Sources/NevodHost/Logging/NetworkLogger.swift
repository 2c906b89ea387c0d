/// Receives log lines. The library logs only to loggers that the program passes in.
///
/// ```swift
/// struct Collecting: NetworkLogger {
///     let lines = Locked<[String]>([])
///     func isEnabled(_ level: LogLevel) -> Bool { level >= .info }
///     func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.withLock { $0.append(message) } }
/// }
/// ```
public protocol NetworkLogger: Sendable {
    /// Whether lines of this level are wanted. Called before each line, so that unwanted lines are never built.
    func isEnabled(_ level: LogLevel) -> Bool

    /// Writes a line whose level is enabled. Called on any thread, and concurrently. Message and metadata may contain line
    /// breaks and control characters that a server sent; escape them if the output could interpret them.
    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata)
}

extension NetworkLogger {
    /// Writes a line. Neither the message nor the metadata is evaluated if the level is disabled.
    @inlinable
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()
    ) {
        if isEnabled(level) { write(level, message(), metadata()) }
    }

    /// Writes a line of level ``LogLevel/debug``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func debug(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.debug, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/info``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func info(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.info, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/notice``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func notice(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.notice, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/warning``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func warning(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.warning, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/error``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func error(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.error, message(), metadata())
    }
}
