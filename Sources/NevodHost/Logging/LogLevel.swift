/// The severity of a log line, in ascending order.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// Details for debugging.
    case debug
    /// Normal operation.
    case info
    /// Unusual, but not a fault.
    case notice
    /// A fault that the program recovers from.
    case warning
    /// A fault with visible effects.
    case error

    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension LogLevel: CustomStringConvertible {
    public var description: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        }
    }
}
