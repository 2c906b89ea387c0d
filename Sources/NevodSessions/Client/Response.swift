public import NevodHost

/// The response of a service that describes its errors: a success or a failure, each with its decoded body.
///
/// ```swift
/// let response: Response<LoginSuccess, LoginError> = try await client.send(.post("/auth/login").body(credentials))
/// switch response {
/// case .success(let success): print(success.accessToken)
/// case .failure(let failure): print(failure.code)
/// }
/// ```
///
/// A failure with a body that can't be decoded is thrown as the `NetworkError` of its status.
public enum Response<Success: Sendable, Failure: Sendable>: Sendable {
    /// Status 200 … 299.
    case success(SuccessResponse<Success>)
    /// Any other status, with a body that describes it.
    case failure(FailureResponse<Failure>)

    /// Returns the success, or throws the ``FailureResponse``.
    public func get() throws -> SuccessResponse<Success> {
        switch self {
        case .success(let success): return success
        case .failure(let failure): throw failure
        }
    }
}

/// A response with status 200 … 299, and its decoded body. Properties of the body can be read directly: `response.accessToken` is
/// `response.data.accessToken`.
@dynamicMemberLookup
public struct SuccessResponse<Success: Sendable>: Sendable {
    /// The decoded body.
    public let data: Success
    /// The response as it was received.
    public let response: HTTPResponse

    /// Creates a response, for tests.
    public init(data: Success, response: HTTPResponse) {
        self.data = data
        self.response = response
    }

    /// The status code (RFC 9110 §15.3).
    public var status: Int { response.status }
    /// The header lines.
    public var headers: HTTPHeaders { response.headers }

    /// A property of the decoded body.
    public subscript<Value>(dynamicMember property: KeyPath<Success, Value>) -> Value {
        data[keyPath: property]
    }
}

extension SuccessResponse: Redacted {
    /// The status and the body's type. The body itself is left out, because it may hold tokens.
    public var description: String { "\(status) with a \(Success.self)" }
}

/// An unsuccessful response, with its body decoded as the service's own error. Properties of the body can be read directly:
/// `failure.code` is `failure.error.code`.
@dynamicMemberLookup
public struct FailureResponse<Failure: Sendable>: Error, FailedResponse {
    /// The decoded body.
    public let error: Failure
    /// The error that a request without a typed failure would throw for this status. It includes the response.
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
    /// The status and the body's type. The body itself is left out, because it may repeat secrets from the request.
    public var description: String { "\(networkError), with a \(Failure.self)" }
}

/// A ``FailureResponse`` of any type.
protocol FailedResponse: Error {
    var networkError: NetworkError { get }
}
