extension Route {
    /// Creates the route's request, before any interceptor runs.
    ///
    /// - Throws: ``NetworkError/invalidURL(_:)`` if the endpoint is invalid or the domain has no environment;
    ///   ``NetworkError/invalidRequest(_:)`` if a header is invalid; ``NetworkError/bodyEncodingFailed(_:)``.
    public func makeRequest(with config: NetworkConfig) throws(NetworkError) -> HTTPRequest {
        guard let environment = config.environment(for: domain) else {
            throw .invalidURL(
                InvalidRequestError(
                    .url(endpoint),
                    "the configuration has no environment for the domain \"\(domain.identifier)\" (\(Domain.self))"))
        }
        let content = try encodedBody(config.encoder)
        do throws(InvalidRequestError) {
            let url = try RouteURL.make(
                base: environment.baseURL.urlString, endpoint: endpoint,
                parameters: [queryList] + (parameterEncoding == .query ? [parameterList] : []))
            var request = try HTTPRequest(method, url, body: content?.content ?? .none)
            if let type = content?.contentType { try request.setHeader("Content-Type", type) }
            for (name, value) in (headers ?? [:]).sorted(by: { $0.key < $1.key }) { try request.setHeader(name, value) }
            request.route = RouteDescription(
                domain: domain.identifier, of: Domain.self, endpoint: endpoint, template: endpointTemplate,
                method: method, auth: auth, type: Self.self)
            return request
        } catch {
            throw NetworkError(error)
        }
    }

    private func encodedBody(_ encoder: any BodyEncoder) throws(NetworkError) -> RouteBody? {
        do {
            return try body(using: encoder)
        } catch let error as NetworkError {
            throw error
        } catch let error as InvalidRequestError {
            throw NetworkError(error)
        } catch {
            throw .bodyEncodingFailed(error)
        }
    }

    /// Decodes a response's body.
    func decode(_ response: HTTPResponse, _ body: [UInt8], with decoder: any BodyDecoder) throws(NetworkError) -> Response {
        guard let decoder = decoder as? Decoder else {
            let mismatch = DecoderMismatchError(wanted: "\(Decoder.self)", configured: "\(type(of: decoder))")
            throw .parsingError(mismatch, data: body, response: response)
        }
        do {
            return try decode(Payload(body), using: decoder)
        } catch {
            throw .parsingError(error, data: body, response: response)
        }
    }
}

/// A route's `decode` takes a decoder of another type than the configuration's.
struct DecoderMismatchError: Error, CustomStringConvertible {
    let wanted: String
    let configured: String

    var description: String { "the route needs a decoder of type \(wanted), but the configuration's is a \(configured)" }
}
