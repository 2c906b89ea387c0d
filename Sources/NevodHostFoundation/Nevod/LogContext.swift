public import Foundation
public import NevodHost

/// One line of a log, as a ``LogHandler`` receives it.
public struct LogContext: Sendable {
    /// The severity.
    public let level: LogLevel
    /// The text. May hold line breaks and control characters that a server sent.
    public let message: String
    /// The named values of the line. Values of one name are joined by a comma.
    public let payload: [String: String]
    /// The source file of the call; empty for a line of the library.
    public let file: String
    /// The function of the call; empty for a line of the library.
    public let function: String
    /// The line of the call; 0 for a line of the library.
    public let line: Int
    /// When the line was logged.
    public let timestamp: Date

    /// Creates a line, for tests of a handler.
    public init(
        level: LogLevel, message: String, payload: [String: String] = [:], file: String = #file,
        function: String = #function, line: Int = #line, timestamp: Date = Date()
    ) {
        self.level = level
        self.message = message
        self.payload = payload
        self.file = file
        self.function = function
        self.line = line
        self.timestamp = timestamp
    }
}
