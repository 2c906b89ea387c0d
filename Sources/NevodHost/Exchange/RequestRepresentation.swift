/// A request type that tokens and interceptors can be written against: the native one, or another library's.
public protocol RequestRepresentation: Sendable {
    /// The response type of the same library.
    associatedtype Response: Sendable = HTTPResponse

    /// Whether it can hold a body that is read while it is sent. If not, as by default, such a body is read into memory for a token or
    /// an interceptor that reads it.
    static var holdsStreams: Bool { get }

    /// Converts a native request. Parts that the other library can't represent are left out.
    init(_ request: HTTPRequest)
    /// Writes the changes back to the native request. Unchanged parts must not be written, since every write is recorded as an
    /// edit.
    func write(to request: inout HTTPRequest) throws

    /// Converts a response; nil if the other library can't represent it.
    static func response(_ response: HTTPResponse, to request: HTTPRequest) -> Response?
}

extension RequestRepresentation {
    public static var holdsStreams: Bool { false }
}

extension HTTPRequest: RequestRepresentation {
    public static var holdsStreams: Bool { true }

    public init(_ request: HTTPRequest) {
        self = request
    }

    public func write(to request: inout HTTPRequest) {
        request = self
    }
}

extension RequestRepresentation where Response == HTTPResponse {
    public static func response(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPResponse? {
        response
    }
}
