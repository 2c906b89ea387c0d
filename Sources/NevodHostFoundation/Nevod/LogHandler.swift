/// Receives lines of a log, on any thread, and concurrently. A ``LoggerConfiguration`` has one for each level.
public typealias LogHandler = @Sendable (LogContext) -> Void
