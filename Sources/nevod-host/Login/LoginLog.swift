import NevodHost

/// Shows with `-v` what happens to a session's token. The command itself reports a failure with its reason, so nothing is a warning
/// here but the end of a session, with the way out.
struct LoginLog: NetworkLogger {
    let console: Console
    /// The command to suggest for logging in; nil for none.
    let loginCommand: String?

    func isEnabled(_ level: LogLevel) -> Bool { level >= .warning || level >= .info && console.isVerbose }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        console.trace("*", message)
        guard metadata["event"] == "refused" else { return }
        console.warning("the session is cleared; log in again" + (loginCommand.map { ": \($0)" } ?? ""))
    }
}
