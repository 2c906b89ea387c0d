/// A route whose body is an `Encodable` value.
public protocol EncodableRoute: Route {
    /// The type of the value that is sent.
    associatedtype Body: Encodable
    /// A ``BodyEncoder``, Foundation's `JSONEncoder` for instance, or an optional one.
    associatedtype Encoder = (any BodyEncoder)?

    /// Nil: no body.
    var body: Body? { get }

    /// Nil: the configuration's.
    var bodyEncoder: Encoder { get }
}

extension EncodableRoute {
    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard let body else { return nil }
        let encoder = bodyEncoder as? any BodyEncoder ?? encoder
        return RouteBody(.bytes(try encoder.encode(body)), contentType: encoder.contentType)
    }
}

extension EncodableRoute where Encoder == (any BodyEncoder)? {
    public var bodyEncoder: (any BodyEncoder)? { nil }
}
