/// Adds fixed headers to each request. A header that the request already has is left unchanged.
///
/// After a redirect to another origin, headers whose names mark them as secret, such as `X-API-Key`, are left out (see
/// ``RedactedNames/default``). For a credential under any other name, use a ``TokenInterceptor``.
public struct HeadersInterceptor: RequestInterceptor {
    /// Sorted by name: the order of a dictionary differs between runs, and a signature may depend on it.
    private let headers: [(key: String, value: String)]

    private let secrets: Set<String>

    /// - Parameter headers: values by name, added in the order of the names. A name or value that is invalid by RFC 9110 §5
    ///   fails the request.
    public init(headers: [String: String]) {
        self.headers = headers.sorted { $0.key < $1.key }
        secrets = Set(headers.keys.filter { CredentialNames.standard.contains($0.utf8) })
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for (name, value) in headers where !exchange.request.headers.contains(name) {
            guard exchange.mayCarryCredentials || !secrets.contains(name) else { continue }
            try exchange.request.setHeader(name, value)
        }
    }
}
