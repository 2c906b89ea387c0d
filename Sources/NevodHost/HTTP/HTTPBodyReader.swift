/// Delivers a body, piece by piece.
public protocol HTTPBodyReader: AnyObject, Sendable {
    /// The next bytes, at most `count`; none at the end. Called by one task at a time.
    func read(upTo count: Int) async throws -> [UInt8]
}
