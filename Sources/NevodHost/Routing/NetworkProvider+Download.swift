extension NetworkProvider {
    /// Writes the body of a route's answer to a file. It is written beside its place, under a name that begins with a dot, and
    /// moved there when it is complete: the path holds the old file or the whole new one, and after a failure nothing is left.
    /// Whoever has the file may read and write it, nobody else (mode 0600).
    ///
    /// - Parameters:
    ///   - route: its answer is the file; what it promises to be is not asked.
    ///   - path: of a file; one that is there is replaced.
    ///   - options: nil: the configuration's. The time limit counts for all of the body.
    ///   - progress: of the body, by the Content-Length where there is one.
    /// - Returns: the head of the answer, with an empty body.
    /// - Throws: ``NetworkError``; for a file that can't be written, ``NetworkError/unknown(_:)`` with a ``FileError``, before
    ///   anything is sent if that shows by then.
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
