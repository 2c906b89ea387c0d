// Apple's unified log exists only on Apple's systems: on Linux this file is empty and has not been built.
#if canImport(os)
    public import os

    /// Lets Apple's logger be passed to the library: `LoggingInterceptor(logger: Logger(subsystem: "…", category: "network"))`.
    extension Logger: NetworkLogger {
        /// Always true: the system decides which levels to keep, and can't be asked beforehand.
        public func isEnabled(_ level: LogLevel) -> Bool { true }

        public func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
            let line = LogLine.text(message, metadata)
            // Credentials are redacted already. Without `.public` the system would hide the whole line.
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
