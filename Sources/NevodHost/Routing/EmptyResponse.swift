/// The answer of a request that is only done or not, 204 for one (RFC 9110 §15.3.5). A body, if there is one, is dropped.
public struct EmptyResponse: UndecodedBody, Decodable, Sendable, Hashable {
    /// For tests, and for transports of their own.
    public init() {}

    public init(undecodedBody body: [UInt8]) {}
}
