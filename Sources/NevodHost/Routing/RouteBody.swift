/// What a route sends, and what it is.
public struct RouteBody: Sendable {
    /// What is sent.
    public var content: HTTPBody
    /// The media type (RFC 9110 §8.3.1); nil: no Content-Type is sent.
    public var contentType: String?

    /// - Parameters:
    ///   - content: what is sent, as it is.
    ///   - contentType: nil for a body of which nothing is said; a Content-Type among the route's headers replaces it.
    public init(_ content: HTTPBody, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }
}
