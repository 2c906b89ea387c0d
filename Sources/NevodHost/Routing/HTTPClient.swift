/// Performs the HTTP requests of endpoints. A ``NetworkProvider`` is one, for the service of its ``DefaultDomain``.
public protocol HTTPClient: APIClienting {
    /// Performs an endpoint's request, and returns the whole response, not decoded.
    ///
    /// - Throws: ``NetworkError``, also if the response's status is not a success.
    func response<T: Decodable & Sendable>(for endpoint: Endpoint<T>) async throws -> HTTPResponse
}

extension NetworkProvider: HTTPClient {
    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
        try await perform(endpoint)
    }

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T {
        try await perform(endpoint, uploadProgress: uploadProgress)
    }

    public func response<T: Decodable & Sendable>(for endpoint: Endpoint<T>) async throws -> HTTPResponse {
        try await response(for: endpoint, options: nil)
    }
}
