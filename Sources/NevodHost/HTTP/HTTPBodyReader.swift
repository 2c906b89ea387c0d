/// Reads a body piece by piece.
public protocol HTTPBodyReader: AnyObject, Sendable {
    /// Returns the next bytes, at most `count`, which is positive; an empty array at the end. Calls don't overlap.
    func read(upTo count: Int) async throws -> [UInt8]
}
