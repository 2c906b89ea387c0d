/// A deadline passed before the awaited value arrived.
package struct DeadlineExceededError: Error, Sendable, Hashable, CustomStringConvertible {
    package init() {}

    package var description: String { "the deadline has passed" }
}
