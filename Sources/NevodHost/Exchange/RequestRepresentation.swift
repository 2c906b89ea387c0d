/// A type that tokens and interceptors can be written against: the native request, or another library's.
public protocol RequestRepresentation: Sendable {
    /// The same library's answer.
    associatedtype Response: Sendable = HTTPResponse

    /// A request as the other library shows it. What it can't express, it leaves out.
    init(_ request: HTTPRequest)
    /// Carries the changes over. What did not change must be left alone, since whatever is written counts as an edit.
    func write(to request: inout HTTPRequest) throws

    /// Nil for an answer that the other library can't express.
    static func response(_ response: HTTPResponse, to request: HTTPRequest) -> Response?
}

extension HTTPRequest: RequestRepresentation {
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
