public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Route {
    /// The route's request, before any interceptor runs, or the error. A body that is read from a file is left out.
    @_disfavoredOverload  // Without a type from the context, the method that returns the host's request is meant.
    public func makeRequest(with config: NetworkConfig) -> Result<URLRequest, NetworkError> {
        do throws(NetworkError) {
            let native: HTTPRequest = try makeRequest(with: config)
            var request = URLRequest(native)
            let timeout: TimeInterval = config.timeout
            if timeout.isFinite { request.timeoutInterval = timeout }
            return .success(request)
        } catch {
            return .failure(error)
        }
    }

    /// The parameters that are sent in the query; nil if there are none. For reading: a route of your own changes them by
    /// `Route.queryList`.
    public var urlQueryItems: [URLQueryItem]? {
        let parameters = queryList.parameters + (parameterEncoding == .query ? parameterList.parameters : [])
        return parameters.isEmpty ? nil : parameters.map { URLQueryItem(name: $0.name, value: $0.value) }
    }

    /// The body, encoded by a `JSONEncoder`; nil if there is none, or if it isn't in memory. For reading: a route of your own
    /// changes it by `Route.body(using:)`.
    public var bodyData: Data? { bodyData(using: JSONEncoder()) }

    /// The body; nil if there is none, if it can't be encoded, or if it isn't in memory. For reading: a route of your own changes
    /// it by `Route.body(using:)`.
    public func bodyData(using encoder: JSONEncoder) -> Data? {
        guard case .bytes(let bytes) = (try? body(using: encoder))?.content else { return nil }
        return Data(bytes)
    }

    /// Encodes a value, for a route's own body.
    public func encodeBody(_ value: some Encodable, using encoder: JSONEncoder) throws -> Data {
        try encoder.encode(value)
    }
}
