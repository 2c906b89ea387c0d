/// Where lines of a log go. The library takes one from whoever wants a log, and never makes one by itself.
///
/// ```swift
/// struct Collecting: NetworkLogger {
///     let lines = Locked<[String]>([])
///     func isEnabled(_ level: LogLevel) -> Bool { level >= .info }
///     func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.withLock { $0.append(message) } }
/// }
/// ```
public protocol NetworkLogger: Sendable {
    /// Whether anybody wants lines of this level. Asked before each line, so that the others are never put together.
    func isEnabled(_ level: LogLevel) -> Bool

    /// Writes a line of a level that is enabled; on any thread, and on many at once. Texts may hold line breaks and control
    /// characters that a server sent: what could read them as its own has to be kept from it.
    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata)
}

extension NetworkLogger {
    /// Neither the message nor the metadata is made when the level is disabled.
    @inlinable
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()
    ) {
        if isEnabled(level) { write(level, message(), metadata()) }
    }

    /// A line of level ``LogLevel/debug``; made only when that level is enabled.
    @inlinable
    public func debug(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.debug, message(), metadata())
    }

    /// A line of level ``LogLevel/info``; made only when that level is enabled.
    @inlinable
    public func info(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.info, message(), metadata())
    }

    /// A line of level ``LogLevel/notice``; made only when that level is enabled.
    @inlinable
    public func notice(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.notice, message(), metadata())
    }

    /// A line of level ``LogLevel/warning``; made only when that level is enabled.
    @inlinable
    public func warning(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.warning, message(), metadata())
    }

    /// A line of level ``LogLevel/error``; made only when that level is enabled.
    @inlinable
    public func error(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.error, message(), metadata())
    }
}
