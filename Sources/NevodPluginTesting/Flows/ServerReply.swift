/// The result of a flow's request.
public enum ServerReply: Sendable, Equatable {
    /// A response of the server.
    case response(TestResponse)
    /// No response, and a retry may succeed: a timeout, for example.
    case transientError
    /// No response, and a retry is useless: a certificate that can't be verified, for example.
    case permanentError
    /// The response is larger than a host accepts.
    case tooLarge
    /// The user gives up while the request is on its way.
    case cancelled
}
