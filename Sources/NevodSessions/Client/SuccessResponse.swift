public import NevodHost

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
    /// The status and the type of the body, which may hold tokens.
    public var description: String { "\(status) with a \(Success.self)" }
}
