import NevodHost

/// Shows the provider's notices about retries as warnings on the console.
struct RetryWarnings: NetworkLogger {
    let console: Console

    func isEnabled(_ level: LogLevel) -> Bool { level >= .notice }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        console.warning(message)
    }
}
