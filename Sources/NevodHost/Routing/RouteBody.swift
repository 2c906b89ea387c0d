/// The body of a route's request, with its media type.
public struct RouteBody: Sendable {
    /// The body.
    public var content: HTTPBody
    /// The media type (RFC 9110 §8.3.1); if nil, no Content-Type is sent.
    public var contentType: String?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - content: the body.
    ///   - contentType: the media type; if nil, no Content-Type is sent. A Content-Type among the route's headers replaces it.
    public init(_ content: HTTPBody, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }
}
