// Apple's unified log, which only Apple's systems have: this file is empty, and unbuilt, on Linux.
#if canImport(os)
    public import os

    /// Apple's own logger is one of the library's: `LoggingInterceptor(logger: Logger(subsystem: "…", category: "network"))`.
    extension Logger: NetworkLogger {
        /// The system decides which levels it keeps, and doesn't tell before.
        public func isEnabled(_ level: LogLevel) -> Bool { true }

        public func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
            let line = LogLine.text(message, metadata)
            // Public, since credentials have been taken out before; the system would hide the whole line otherwise.
            log(level: level.type, "\(line, privacy: .public)")
        }
    }

    extension LogLevel {
        fileprivate var type: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .notice: .default
            case .warning: .error
            case .error: .fault
            }
        }
    }
#endif
