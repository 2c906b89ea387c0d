internal import NevodPluginABI

/// The host's log. A scheme that writes to it has it as a property, and calls it in `prepare`, `authorize`, `respond` and its flows:
///
/// ```swift
/// let log = HostLog()
///
/// func authorize(_ request: borrowing RequestView, _ edits: Edits) {
///     log(.debug, "signs with the key \(keyID)")
/// }
/// ```
///
/// The command line shows it with `-v`. The host replaces the values of secret settings in a line; a line must contain no other secret,
/// such as a token, because the host can't recognize it.
public struct HostLog: Sendable {
    /// The importance of a line.
    public enum Level: Int32, CaseIterable, Sendable {
        /// For the author of the scheme.
        case debug = 1
        /// Information for the user.
        case info = 2
        /// Something that should be changed, though it works.
        case warning = 3
        /// Something that doesn't work, beside the errors that are thrown.
        case error = 4
    }

    // Valid until the instance is destroyed, and callable from any thread.
    private nonisolated(unsafe) let host: UnsafePointer<nevod_host>?

    /// Takes the log of the host that creates the scheme.
    public init() {
        host = SettingsReader.current?.host
    }

    /// Writes a line: at most 1,024 bytes, longer ones are cut.
    public func callAsFunction(_ level: Level, _ text: String) {
        guard let host, let log = host.pointee.log else { return }
        withBytes(text) { log(host.pointee.host, level.rawValue, $0) }
    }
}
