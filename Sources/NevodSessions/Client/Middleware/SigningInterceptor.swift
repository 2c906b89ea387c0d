internal import NevodHost

/// Signs one request of a client with a function. A request that was redirected to another origin isn't signed.
struct SigningInterceptor: RequestInterceptor {
    let readsBody: Bool
    let sign: @Sendable (inout HTTPRequest, [UInt8]) throws -> Void

    var phase: TokenPhase { .signature }

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials else { return }
        let body = readsBody ? try await exchange.request.wholeBody(readBy: "RequestMiddleware.signing") : []
        try exchange.edit(as: .token("request signature")) { try sign(&$0, body) }
    }
}
