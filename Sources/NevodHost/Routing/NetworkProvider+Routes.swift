extension NetworkProvider {
    /// Sends what a route describes, and returns what it promises. Decoded where the caller runs, not where the transport
    /// works.
    ///
    /// - Parameters:
    ///   - route: says what is sent, and where.
    ///   - options: nil: the configuration's.
    ///   - uploadProgress: of a body that is streamed, a file for one; see ``HTTPBody/reporting(to:)``.
    /// - Throws: ``NetworkError``, nothing else. (Untyped, so that `catch let error as NetworkError` is no warning.)
    public func perform<R: Route>(
        _ route: R, options: RequestOptions? = nil, uploadProgress: ProgressHandler? = nil
    ) async throws -> R.Response {
        try await request(route, options: options, uploadProgress: uploadProgress).get()
    }

    /// ``perform(_:options:uploadProgress:)``, with the error as a value.
    public func request<R: Route>(
        _ route: R, options: RequestOptions? = nil, uploadProgress: ProgressHandler? = nil
    ) async -> Result<R.Response, NetworkError> {
        do throws(NetworkError) {
            let (response, body) = try await answer(to: route, options, uploadProgress)
            return .success(try route.decode(response, body, with: config.decoder))
        } catch {
            return .failure(error)
        }
    }

    /// The body of a route's answer, undecoded.
    ///
    /// - Throws: ``NetworkError``; also for an answer that is no success.
    public func data(for route: some Route, options: RequestOptions? = nil) async throws -> [UInt8] {
        try await answer(to: route, options, nil).body
    }

    /// A route's answer, undecoded: the head, and a body as `options.delivery` says.
    ///
    /// - Throws: ``NetworkError``; also for an answer that is no success.
    public func response(for route: some Route, options: RequestOptions? = nil) async throws -> HTTPResponse {
        try await success(of: route.makeRequest(with: config), options)
    }

    private func answer(
        to route: some Route, _ options: RequestOptions?, _ uploadProgress: ProgressHandler?
    ) async throws(NetworkError) -> (response: HTTPResponse, body: [UInt8]) {
        var request = try route.makeRequest(with: config)
        if let uploadProgress { request.body = request.body.reporting(to: uploadProgress) }
        let response = try await success(of: request, options)
        return (response, try await body(of: response))
    }

    func body(of response: HTTPResponse) async throws(NetworkError) -> [UInt8] {
        do throws(TransportError) { return try await response.body.collect() } catch { throw NetworkError(error) }
    }

    /// An answer of status 200 … 299. Any other is the error, with its body, unless that is streamed and larger
    /// than 1 MiB.
    func success(of request: HTTPRequest, _ options: RequestOptions?) async throws(NetworkError) -> HTTPResponse {
        var response = try await send(request, options)
        if !(200...299).contains(response.status), case .stream = response.body {
            let body = (try? await response.body.collect(upTo: Self.mostOfAnError)) ?? []
            response = HTTPResponse(
                version: response.version, status: response.status, reason: response.reason, headers: response.headers,
                body: .bytes(body))
        }
        if let error = NetworkError(response) { throw error }
        return response
    }

    private static let mostOfAnError = 1 << 20
}
