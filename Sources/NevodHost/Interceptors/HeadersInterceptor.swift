/// Puts fixed headers on every request; those that a request already has stay.
///
/// One whose name says that it is a secret, `X-API-Key` for instance (``RedactedNames/default``), is left out once a redirect
/// has led to another origin. What a credential is called otherwise only a token can tell.
public struct HeadersInterceptor: RequestInterceptor {
    /// By name: a dictionary's order changes from run to run, and a signature may depend on it.
    private let headers: [(key: String, value: String)]

    private let secrets: Set<String>

    /// - Parameter headers: values by name, written in the order of the names. A name or value that HTTP forbids (RFC 9110 §5)
    ///   fails the request.
    public init(headers: [String: String]) {
        self.headers = headers.sorted { $0.key < $1.key }
        secrets = Set(headers.keys.filter { RedactedNames.default.contains($0.utf8) })
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for (name, value) in headers where !exchange.request.headers.contains(name) {
            guard exchange.mayCarryCredentials || !secrets.contains(name) else { continue }
            try exchange.request.setHeader(name, value)
        }
    }
}
