/// Why a text isn't JSON, or exceeds the bounds of its reader. Names the place, and repeats nothing of the text.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The byte's offset, from 0.
    public let offset: Int
    /// The fault in words.
    public let problem: String
    public var description: String { "\(problem) at byte \(offset)" }

    package init(offset: Int, problem: String) {
        self.offset = offset
        self.problem = problem
    }
}
