/// Sends endpoints: what an app's services need of a client. A test gives them a client of its own, which sends nothing:
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
