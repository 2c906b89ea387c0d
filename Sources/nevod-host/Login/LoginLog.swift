import NevodHost

/// Shows with `-v` what happens to a session's token. The command itself reports a failure, so nothing is a warning here.
struct LoginLog: NetworkLogger {
    let console: Console

    func isEnabled(_ level: LogLevel) -> Bool { level >= .info && console.isVerbose }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        console.trace("*", message)
    }
}
