/// The response of a route whose body doesn't matter, such as 204 (RFC 9110 §15.3.5). A body is ignored.
public struct EmptyResponse: UndecodedBody, Decodable, Sendable, Hashable {
    /// Creates a value, for tests and custom transports.
    public init() {}

    public init(undecodedBody body: [UInt8]) {}
}
