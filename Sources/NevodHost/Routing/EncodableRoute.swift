/// A route whose body is an `Encodable` value.
public protocol EncodableRoute: Route {
    /// The type of the body.
    associatedtype Body: Encodable
    /// The type of the encoder: a ``BodyEncoder`` such as Foundation's `JSONEncoder`, or an optional one.
    associatedtype Encoder = (any BodyEncoder)?

    /// The value to encode; nil for no body.
    var body: Body? { get }

    /// The encoder of the body; nil for the configuration's.
    var bodyEncoder: Encoder { get }
}

extension EncodableRoute {
    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard let body else { return nil }
        let encoder = bodyEncoder as? any BodyEncoder ?? encoder
        return RouteBody(.bytes(try encoder.body(of: body)), contentType: encoder.contentType)
    }
}

extension EncodableRoute where Encoder == (any BodyEncoder)? {
    public var bodyEncoder: (any BodyEncoder)? { nil }
}
