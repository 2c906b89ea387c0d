internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes to the system's log by syslog(3), which journald and every other log daemon of the system read.
///
/// One record for each line. A machine without a log daemon drops them.
public struct SystemLogger: NetworkLogger {
    /// What kind of program writes, as the daemon's rules sort by it (RFC 5424 §6.2.1).
    public enum Facility: Sendable, CaseIterable {
        /// A user's program, a service, and what decides who may do what: LOG_USER, LOG_DAEMON, LOG_AUTHPRIV.
        case user, daemon, authorization
        /// For the machine's owner to give a meaning: LOG_LOCAL0 to LOG_LOCAL7.
        case local0, local1, local2, local3, local4, local5, local6, local7

        var code: Int32 {
            switch self {
            case .user: 1 << 3
            case .daemon: 3 << 3
            case .authorization: 10 << 3
            case .local0: 16 << 3
            case .local1: 17 << 3
            case .local2: 18 << 3
            case .local3: 19 << 3
            case .local4: 20 << 3
            case .local5: 21 << 3
            case .local6: 22 << 3
            case .local7: 23 << 3
            }
        }
    }

    private let identity: SystemLog.Identity
    private let facility: Facility
    private let minimum: LogLevel

    /// - Parameters:
    ///   - identifier: the program's name, which stands before each line (`journalctl -t NAME`).
    ///   - facility: what the daemon's rules sort the lines by.
    ///   - minimum: the lowest level that is written.
    ///   - echoesToStandardError: writes each line there as well.
    public init(
        identifier: String, facility: Facility = .user, minimum: LogLevel = .info, echoesToStandardError: Bool = false
    ) {
        identity = SystemLog.Identity(name: identifier, echoes: echoesToStandardError)
        self.facility = facility
        self.minimum = minimum
    }

    public func isEnabled(_ level: LogLevel) -> Bool {
        level >= minimum
    }

    public func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        SystemLog.write(LogLine.text(message, metadata), facility.code | level.severity, as: identity)
    }
}

extension LogLevel {
    /// RFC 5424 §6.2.1.
    fileprivate var severity: Int32 {
        switch self {
        case .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .notice: LOG_NOTICE
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        }
    }
}

/// The process's one connection to the log. Its identifier is the process's too, so it is set anew where two loggers differ.
private enum SystemLog {
    struct Identity: Hashable {
        let name: String
        let echoes: Bool
    }

    private struct State {
        /// The library keeps the pointer, not the text: they live as long as the process.
        var names: [String: UnsafePointer<CChar>] = [:]
        var current: Identity?
    }

    // Touched under the lock alone. (A pointer can't be in Locked: it isn't Sendable.)
    private nonisolated(unsafe) static var state = State()
    private static let lock = Locked<Void>(())

    static func write(_ line: String, _ priority: Int32, as identity: Identity) {
        lock.withLock { _ in
            if state.current != identity {
                openlog(name(of: identity), LOG_PID | (identity.echoes ? LOG_PERROR : 0), priority & ~7)
                state.current = identity
            }
            // The line is an argument, never the format: it may hold a %n.
            line.withCString { line in withVaList([line]) { vsyslog(priority, "%s", $0) } }
        }
    }

    private static func name(of identity: Identity) -> UnsafePointer<CChar>? {
        if let known = state.names[identity.name] { return known }
        let name = strdup(TerminalText.safe(identity.name)).map { UnsafePointer($0) }
        state.names[identity.name] = name
        return name
    }
}
