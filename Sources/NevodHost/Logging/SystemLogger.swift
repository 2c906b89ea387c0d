internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
#if canImport(os)
    public import os
#endif

/// Writes to the system's log with syslog(3), which journald and other log daemons receive.
///
/// Each line is one record. Without a log daemon, records are dropped.
public struct SystemLogger: NetworkLogger {
    /// The kind of program that writes, used by the daemon's rules (RFC 5424 §6.2.1).
    public enum Facility: Sendable, CaseIterable {
        /// A user's program, a service, and security or authorization messages: LOG_USER, LOG_DAEMON, LOG_AUTHPRIV.
        case user, daemon, authorization
        /// Reserved for local use: LOG_LOCAL0 to LOG_LOCAL7.
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
    ///   - identifier: the program's name, with which each line starts (`journalctl -t NAME`).
    ///   - facility: selects the daemon's rules for these lines.
    ///   - minimum: the lowest level that is written.
    ///   - echoesToStandardError: whether to write each line to standard error as well.
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

/// The process's single connection to the log. It has one identifier, so the connection is reopened whenever the next line
/// comes from a logger with another one.
private enum SystemLog {
    struct Identity: Hashable {
        let name: String
        let echoes: Bool
    }

    private struct State {
        /// openlog(3) keeps the pointer without copying the text, so these are never freed.
        var names: [String: UnsafePointer<CChar>] = [:]
        var current: Identity?
    }

    // Accessed only with the lock held. (`Locked` can't hold a pointer, which isn't Sendable.)
    private nonisolated(unsafe) static var state = State()
    private static let lock = Locked<Void>(())

    static func write(_ line: String, _ priority: Int32, as identity: Identity) {
        lock.withLock { _ in
            if state.current != identity {
                openlog(name(of: identity), LOG_PID | (identity.echoes ? LOG_PERROR : 0), priority & ~7)
                state.current = identity
            }
            // The line is passed as an argument, never as the format: it may contain %n.
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

// Apple's unified log exists only on Apple's systems. This part has not been built, since it is empty on Linux.
#if canImport(os)
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
