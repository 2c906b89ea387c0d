/// Performs the HTTP requests of endpoints. A ``NetworkProvider`` is such a client, for the service of its ``DefaultDomain``.
public protocol HTTPClient: APIClienting {
    /// Performs an endpoint's request, and returns the whole response, not decoded.
    ///
    /// - Throws: ``NetworkError``, including for a response with a status other than 200 … 299.
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

/// Sends endpoints. An app's services need nothing else from a client, so a test can give them one that sends nothing:
///
/// ```swift
/// struct FixedSports: APIClienting {
///     func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
///         guard endpoint.path == "/sports", let sports = [Sport(name: "Ski")] as? T else { throw NetworkError.clientError(404) }
///         return sports
///     }
/// }
/// ```
///
/// (An ``HTTPClient``, in contrast, really performs HTTP requests.)
public protocol APIClienting: Sendable {
    /// Sends an endpoint's request, and returns its decoded response.
    ///
    /// - Throws: ``NetworkError`` from the clients of this library.
    func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T

    /// Sends an endpoint's request, and reports the progress of its body, if that is a form. By default nothing is reported.
    func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T
}

extension APIClienting {
    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T {
        try await send(endpoint)
    }
}

/// The service of a provider that has only one. Requests without a route are sent to it.
public enum DefaultDomain: ServiceDomain {
    /// The only service.
    case `default`

    public var identifier: String { "default" }
}
