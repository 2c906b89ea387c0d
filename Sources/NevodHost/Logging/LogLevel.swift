/// How much a line of a log matters, from the least to the most.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// For whoever looks for a fault.
    case debug
    /// What happens when all is well.
    case info
    /// Unusual, and no fault.
    case notice
    /// A fault that the program copes with.
    case warning
    /// A fault that somebody notices.
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
