extension NetworkProvider {
    /// Sends a route's request, and returns its decoded response. Decoding runs on the caller's executor, not the transport's.
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - options: the options; nil for the configuration's.
    ///   - uploadProgress: receives the progress of a streamed body, such as a file; see ``HTTPBody/reporting(to:)``.
    /// - Throws: always a ``NetworkError``. (The throw is untyped, so that `catch let error as NetworkError` causes no warning.)
    public func perform<R: Route>(
        _ route: R, options: RequestOptions? = nil, uploadProgress: ProgressHandler? = nil
    ) async throws -> R.Response {
        try await request(route, options: options, uploadProgress: uploadProgress).get()
    }

    /// Like `perform(_:options:uploadProgress:)`, but returns the error as a value.
    public func request<R: Route>(
        _ route: R, options: RequestOptions? = nil, uploadProgress: ProgressHandler? = nil
    ) async -> Result<R.Response, NetworkError> {
        do throws(NetworkError) {
            return .success(try await decodedResponse(to: route, options: options, uploadProgress: uploadProgress).value)
        } catch {
            return .failure(error)
        }
    }

    /// Sends a route's request, and returns its response both raw and decoded.
    package func decodedResponse<R: Route>(
        to route: R, options: RequestOptions?, uploadProgress: ProgressHandler? = nil
    ) async throws(NetworkError) -> (response: HTTPResponse, value: R.Response) {
        let (response, body) = try await collectedResponse(to: route, options, uploadProgress)
        return (response, try route.decode(response, body, with: config.decoder))
    }

    /// Sends a route's request, and returns the response's body without decoding it.
    ///
    /// - Throws: ``NetworkError``, including for a response with a status other than 200 … 299.
    public func data(for route: some Route, options: RequestOptions? = nil) async throws -> [UInt8] {
        try await collectedResponse(to: route, options, nil).body
    }

    /// Sends a route's request, and returns the response without decoding it. The body is delivered as `options.delivery` says.
    ///
    /// - Throws: ``NetworkError``, including for a response with a status other than 200 … 299.
    public func response(for route: some Route, options: RequestOptions? = nil) async throws -> HTTPResponse {
        try await success(of: route.makeRequest(with: config), self.options(options, for: route))
    }

    /// Returns the options with the route's scheme parameters.
    func options(_ options: RequestOptions?, for route: some Route) -> RequestOptions? {
        let parameters = route.schemeParameters
        guard !parameters.isEmpty else { return options }
        var options = options ?? RequestOptions(timeout: config.timeout)
        options.schemeParameters = parameters.replacing(with: options.schemeParameters)
        return options
    }

    private func collectedResponse(
        to route: some Route, _ options: RequestOptions?, _ uploadProgress: ProgressHandler?
    ) async throws(NetworkError) -> (response: HTTPResponse, body: [UInt8]) {
        var request = try route.makeRequest(with: config)
        if let uploadProgress { request.body = request.body.reporting(to: uploadProgress) }
        let response = try await success(of: request, self.options(options, for: route))
        return (response, try await body(of: response))
    }

    func body(of response: HTTPResponse) async throws(NetworkError) -> [UInt8] {
        do throws(TransportError) { return try await response.body.collect() } catch { throw NetworkError(error) }
    }

    /// Sends a request, and returns a response with status 200 … 299. Throws any other status as an error with the response's
    /// body, unless the body is streamed and larger than 1 MiB.
    func success(of request: HTTPRequest, _ options: RequestOptions?) async throws(NetworkError) -> HTTPResponse {
        var response = try await send(request, options)
        if !(200...299).contains(response.status), case .stream = response.body {
            let body = (try? await response.body.collect(upTo: Self.maxErrorBodySize)) ?? []
            response = HTTPResponse(
                version: response.version, status: response.status, reason: response.reason, headers: response.headers,
                body: .bytes(body))
        }
        if let error = NetworkError(response) { throw error }
        return response
    }

    private static let maxErrorBodySize = 1 << 20
}
