import NevodSessions

func report(with client: JWTAuthClient, isUrgent: Bool) async throws -> String {
    let response: SuccessResponse<String> = try await client.sendAuthenticated(.get("/report")) {
        if isUrgent {
            RequestMiddleware.timeout(.seconds(5))
            RequestMiddleware.retry(maxRetries: 0)
        } else {
            RequestMiddleware.retry(RetryPolicy(maxAttempts: 4, baseDelay: .milliseconds(200), maxDelay: .seconds(5)))
        }
    }
    return response.data
}
