extension NetworkProvider {
    /// Writes the body of a route's response to a file. The body is written to a temporary file in the same folder, whose name
    /// begins with a dot, and moved to the path when complete. The path therefore holds the old file or the complete new one, and
    /// a failure leaves no temporary file. Only the owner can read and write the file (mode 0600).
    ///
    /// - Parameters:
    ///   - route: the route. Its `Response` type is ignored.
    ///   - path: the path of the file; an existing file is replaced.
    ///   - options: the options; nil for the configuration's. The timeout includes the whole body.
    ///   - progress: receives the progress. The total is known if the response has a Content-Length and no content coding.
    /// - Returns: the response, with an empty body.
    /// - Throws: ``NetworkError``. If the file can't be written, ``NetworkError/unknown(_:)`` with a ``FileError``, before
    ///   anything is sent where possible.
    @discardableResult
    public func download(
        _ route: some Route, to path: String, options: RequestOptions? = nil, progress: ProgressHandler? = nil
    ) async throws -> HTTPResponse {
        try await download(route.makeRequest(with: config), to: path, options, progress)
    }

    private func download(
        _ request: HTTPRequest, to path: String, _ options: RequestOptions?, _ progress: ProgressHandler?
    ) async throws(NetworkError) -> HTTPResponse {
        var options = options ?? RequestOptions(timeout: config.timeout)
        options.delivery = .streamed
        let file: PartialFile
        do throws(FileError) { file = try PartialFile(path) } catch { throw .unknown(error) }
        let response = try await success(of: request, options)
        let total = response.headers.contains("Content-Encoding") ? nil : response.headers["Content-Length"].flatMap(Int64.init)
        var completed: Int64 = 0
        func write(_ bytes: [UInt8]) throws(NetworkError) {
            do throws(FileError) { try file.write(bytes) } catch { throw .unknown(error) }
            completed += Int64(bytes.count)
            progress?(TransferProgress(completed: completed, total: total))
        }
        switch response.body {
        case .bytes(let bytes): try write(bytes)
        case .stream(let stream):
            while let piece = try await next(of: stream) { try write(piece) }
        }
        do throws(FileError) { try file.commit() } catch { throw .unknown(error) }
        return HTTPResponse(
            version: response.version, status: response.status, reason: response.reason, headers: response.headers,
            body: .bytes([]))
    }

    private func next(of stream: HTTPResponseStream) async throws(NetworkError) -> [UInt8]? {
        do throws(TransportError) { return try await stream.next() } catch { throw NetworkError(error) }
    }
}
