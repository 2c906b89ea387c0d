public import NevodHost

/// A response whose status is not a success, and its body, decoded as the service's own error. Properties of the body can be read
/// directly: `failure.code` is `failure.error.code`.
@dynamicMemberLookup
public struct FailureResponse<Failure: Sendable>: Error, FailedResponse {
    /// The decoded body.
    public let error: Failure
    /// The status as the error that a request without a typed failure throws; it has the response too.
    public let networkError: NetworkError

    /// Creates a response, for tests.
    public init(error: Failure, networkError: NetworkError) {
        self.error = error
        self.networkError = networkError
    }

    /// The status code (RFC 9110 §15).
    public var status: Int { networkError.statusCode ?? 0 }
    /// The header lines; nil without a response, as in a test.
    public var headers: HTTPHeaders? { networkError.response?.headers }

    /// A property of the decoded body.
    public subscript<Value>(dynamicMember property: KeyPath<Failure, Value>) -> Value {
        error[keyPath: property]
    }
}

extension FailureResponse: Redacted {
    /// The status and the type of the body, which may repeat secrets from the request.
    public var description: String { "\(networkError), with a \(Failure.self)" }
}

/// A ``FailureResponse`` of any type.
protocol FailedResponse: Error {
    var networkError: NetworkError { get }
}
