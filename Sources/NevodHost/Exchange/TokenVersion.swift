/// Identifies one of the tokens that a storage has held, numbered in the order in which this process has seen them.
public struct TokenVersion: Sendable, Hashable {
    let number: UInt64
}
