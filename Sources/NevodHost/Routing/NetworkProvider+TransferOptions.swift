/// For programs written when one type held the options of both a request and its transfers.
extension NetworkProvider {
    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(NetworkError) -> HTTPResponse {
        try await send(request, RequestOptions(options))
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func authorize(_ request: HTTPRequest, _ options: TransferOptions) async throws(NetworkError) -> HTTPRequest {
        try await authorize(request, RequestOptions(options))
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func perform<R: Route>(
        _ route: R, options: TransferOptions, uploadProgress: ProgressHandler? = nil
    ) async throws -> R.Response {
        try await perform(route, options: RequestOptions(options), uploadProgress: uploadProgress)
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func request<R: Route>(
        _ route: R, options: TransferOptions, uploadProgress: ProgressHandler? = nil
    ) async -> Result<R.Response, NetworkError> {
        await request(route, options: RequestOptions(options), uploadProgress: uploadProgress)
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func data(for route: some Route, options: TransferOptions) async throws -> [UInt8] {
        try await data(for: route, options: RequestOptions(options))
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    public func response(for route: some Route, options: TransferOptions) async throws -> HTTPResponse {
        try await response(for: route, options: RequestOptions(options))
    }

    @available(*, deprecated, message: "pass RequestOptions")
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ route: some Route, to path: String, options: TransferOptions, progress: ProgressHandler? = nil
    ) async throws -> HTTPResponse {
        try await download(route, to: path, options: RequestOptions(options), progress: progress)
    }
}

extension RequestOptions {
    /// Adds the defaults of a request to a transfer's options.
    fileprivate init(_ transfer: TransferOptions) {
        self.init()
        self.transfer = transfer
    }
}
