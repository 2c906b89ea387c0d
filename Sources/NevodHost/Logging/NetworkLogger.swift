/// Receives log lines. The library logs only to loggers that the program passes in.
///
/// ```swift
/// struct Collecting: NetworkLogger {
///     let lines = Locked<[String]>([])
///     func isEnabled(_ level: LogLevel) -> Bool { level >= .info }
///     func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.withLock { $0.append(message) } }
/// }
/// ```
public protocol NetworkLogger: Sendable {
    /// Whether lines of this level are wanted. Called before each line, so that unwanted lines are never built.
    func isEnabled(_ level: LogLevel) -> Bool

    /// Writes a line whose level is enabled. Called on any thread, and concurrently. Message and metadata may contain line
    /// breaks and control characters that a server sent; escape them if the output could interpret them.
    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata)
}

extension NetworkLogger {
    /// Writes a line. Neither the message nor the metadata is evaluated if the level is disabled.
    @inlinable
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()
    ) {
        if isEnabled(level) { write(level, message(), metadata()) }
    }

    /// Writes a line of level ``LogLevel/debug``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func debug(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.debug, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/info``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func info(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.info, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/notice``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func notice(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.notice, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/warning``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func warning(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.warning, message(), metadata())
    }

    /// Writes a line of level ``LogLevel/error``. The arguments are evaluated only if that level is enabled.
    @inlinable
    public func error(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata()) {
        log(.error, message(), metadata())
    }
}

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

/// The named values of a log line: `["attempt": "2"]`. The order is kept, and names may repeat, as in headers.
public struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A name and its value, both as text.
    public struct Pair: Sendable, Hashable {
        /// An aspect of the request, or a header's name. May contain text that a server sent.
        public let name: String
        /// May contain text that a server sent, including line breaks and control characters.
        public let value: String

        /// Creates a pair.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The pairs in the order in which they were added.
    public private(set) var pairs: [Pair]

    /// Creates metadata from pairs, keeping their order.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        pairs = elements.map { Pair(name: $0, value: $1) }
    }

    /// Appends a pair, even if the name exists already.
    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// The first value with this name.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }
}
