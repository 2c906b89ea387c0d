import NevodHost

/// Shows the provider's notices, such as those about retries, as warnings on the console, and its other lines with `-v`.
struct RequestLog: NetworkLogger {
    let console: Console

    func isEnabled(_ level: LogLevel) -> Bool { level >= .notice || level >= .info && console.isVerbose }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        if level >= .notice { console.warning(message) } else { console.trace("*", message) }
    }
}
