#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension NetworkProvider {
    /// Writes the body of a route's response to a file. The body is first written to a temporary file in the same folder, with a
    /// name that begins with a dot, and moved to the path when complete. So the path holds either the old file or the complete
    /// new one, and a failure leaves no temporary file. Only the owner can read and write the file (mode 0600). A symbolic link
    /// at the path is replaced, not followed.
    ///
    /// - Parameters:
    ///   - route: the route. Its `Response` type is ignored.
    ///   - path: the path of the file; an existing file is replaced.
    ///   - options: the options; nil for the configuration's. The timeout includes the whole body.
    ///   - progress: receives the progress. The total is known if the response has a Content-Length and no content coding.
    /// - Returns: the response, with an empty body.
    /// - Throws: ``NetworkError``. If the file can't be written, throws ``NetworkError/unknown(_:)`` with a ``FileError``, where
    ///   possible before anything is sent.
    @discardableResult
    public func download(
        _ route: some Route, to path: String, options: RequestOptions? = nil, progress: ProgressHandler? = nil
    ) async throws -> HTTPResponse {
        try await download(route.makeRequest(with: config), to: path, self.options(options, for: route), progress)
    }

    private func download(
        _ request: HTTPRequest, to path: String, _ options: RequestOptions?, _ progress: ProgressHandler?
    ) async throws(NetworkError) -> HTTPResponse {
        var options = options ?? RequestOptions(timeout: config.timeout)
        options.delivery = .streamed
        let file = try downloadFile(path)
        let response = try await success(of: request, options)
        let total = response.headers.contains("Content-Encoding") ? nil : response.headers["Content-Length"].flatMap(Int64.init)
        var completed: Int64 = 0
        func write(_ bytes: [UInt8]) throws(NetworkError) {
            do throws(AtomicFileError) { try file.write(bytes) } catch { throw .unknown(FileError(path, error.code)) }
            completed += Int64(bytes.count)
            progress?(TransferProgress(completed: completed, total: total))
        }
        switch response.body {
        case .bytes(let bytes): try write(bytes)
        case .stream(let stream):
            while let piece = try await next(of: stream) { try write(piece) }
        }
        do throws(AtomicFileError) { try file.commit() } catch { throw .unknown(FileError(path, error.code)) }
        return HTTPResponse(
            version: response.version, status: response.status, reason: response.reason, headers: response.headers,
            body: .bytes([]))
    }

    private func downloadFile(_ path: String) throws(NetworkError) -> AtomicFile {
        var info = stat()
        // The rename would fail too, but only after the whole body has been fetched.
        if stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { throw .unknown(FileError(path, EISDIR)) }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        do throws(AtomicFileError) {
            return try AtomicFile.randomlyNamed("\(folder).nevod-", for: path)
        } catch {
            throw .unknown(FileError(path, error.code))
        }
    }

    private func next(of stream: HTTPResponseStream) async throws(NetworkError) -> [UInt8]? {
        do throws(TransportError) { return try await stream.next() } catch { throw NetworkError(error) }
    }
}
