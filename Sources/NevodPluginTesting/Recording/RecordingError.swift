/// Why a recording can't be read.
package struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    package let problem: String

    package var description: String { "line \(line) \(problem)" }
}
