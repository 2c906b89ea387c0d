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
/// A failure whose body can't be decoded is thrown as the `NetworkError` of its status.
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
