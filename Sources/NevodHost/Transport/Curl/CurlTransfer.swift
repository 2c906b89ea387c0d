internal import CCurl
internal import Glibc
internal import NevodSupport

/// The transfer of one request. From `start` on, only the loop's thread accesses it.
final class CurlTransfer: @unchecked Sendable {  // The sender creates it, hands it to the loop and doesn't access it afterwards.
    typealias ResponseContinuation = UnsafeContinuation<Result<HTTPResponse, TransportError>, Never>
    typealias PieceContinuation = UnsafeContinuation<Result<[UInt8]?, TransportError>, Never>

    let request: HTTPRequest
    let options: TransferOptions
    private var continuation: ResponseContinuation?
    private var loop: CurlLoop?
    private var handle: CurlHandle?
    /// Keeps this object alive while libcurl has a pointer to it.
    private var selfWhileActive: CurlTransfer?
    private var isCancelled = false
    private var isAdded = false
    /// The reason if this object, not libcurl, stopped the transfer.
    private var ownFailure: TransportError?

    private var head = ResponseHead(limit: 0)
    /// Nil if there is none, or once it has been called.
    private var onConnection: (@Sendable (ConnectionDetails) -> Void)?
    private var body: [UInt8] = []
    private var isReceivingPaused = false
    private var outcome: Result<Void, TransportError>?
    private var pieceContinuation: PieceContinuation?

    /// Nil if the body is returned as received, or once its decoder has been chosen.
    private var decompressionLimit: DecompressionLimit?
    private var decoder: ContentDecoder?
    /// Whether libcurl has delivered the whole body; the decoder may still hold some of it.
    private var isReceived = false

    private var upload: CurlUpload
    /// Reads the next piece of the request's body.
    private var reading: Task<Void, Never>?

    private static let noHostMessage =
        "the server's certificate names no host in a subjectAltName, and its common name doesn't count (RFC 9110 §4.3.4); "
        + "the server needs a certificate with a subjectAltName"

    /// libcurl's limit for a header line, in bytes.
    private static let maxLineLength = 100 << 10

    /// Receiving pauses when this many bytes of a streamed body wait for its reader.
    private static let highWater = 256 << 10

    init(_ request: HTTPRequest, _ options: TransferOptions) {
        self.request = request
        self.options = options
        upload = CurlUpload(request.body)
        onConnection = options.onConnection
    }

    func setContinuation(_ continuation: ResponseContinuation) {
        self.continuation = continuation
    }

    // MARK: Commands

    func start(on loop: CurlLoop) {
        self.loop = loop
        guard !isCancelled else { return complete(.failure(TransportError(.cancelled))) }
        let handle: CurlHandle
        do throws(TransportError) {
            handle = try loop.takeHandle()
            self.handle = handle
            head = ResponseHead(limit: handle.maxHeaderSize)
            decompressionLimit = handle.decompressionLimit
            try handle.prepare(self)
        } catch {
            release()
            return complete(.failure(error))
        }
        let code = loop.add(handle)
        guard code == CURLM_OK else {
            release()
            return complete(.failure(TransportError(.other, String(cString: curl_multi_strerror(code)))))
        }
        isAdded = true
        selfWhileActive = self
    }

    /// Ends a transfer that can't be started.
    func fail(_ error: TransportError) {
        complete(.failure(error))
    }

    func cancel() {
        isCancelled = true
        guard handle != nil else { return }
        release()
        complete(.failure(TransportError(.cancelled)))
    }

    func pull(_ piece: PieceContinuation) {
        if body.isEmpty { decodeHeld() }
        guard body.isEmpty else {
            let bytes = body
            body = []
            piece.resume(returning: .success(bytes))
            return resumeReceiving()
        }
        switch outcome {
        case .success: piece.resume(returning: .success(nil))
        case .failure(let error): piece.resume(returning: .failure(error))
        case nil:
            pieceContinuation = piece
            resumeReceiving()
        }
    }

    /// Passes on what the body's reader has delivered.
    func upload(_ piece: Result<[UInt8], any Error>) {
        reading = nil
        upload.receive(piece)
        if let handle, isAdded { curl_easy_pause(handle.easy, CURLPAUSE_CONT) }
    }

    private func resumeReceiving() {
        guard isReceivingPaused, decoder?.hasInput != true, let handle else { return }
        isReceivingPaused = false
        curl_easy_pause(handle.easy, CURLPAUSE_CONT)
    }

    // MARK: From libcurl

    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        // Ignores trailers, which must not be merged into the header lines (RFC 9110 §6.5.1).
        guard !head.isComplete else { return true }
        if onConnection != nil { reportConnection() }
        do throws(TransportError) {
            try head.receive(line)
        } catch {
            ownFailure = error
            return false
        }
        if head.isComplete, case .streamed = options.delivery, let loop {
            resume(.success(head.response(.stream(stream(on: loop)))))
        }
        return true
    }

    private func reportConnection() {
        guard let handle, let report = onConnection else { return }
        onConnection = nil
        report(handle.connectionDetails(for: request.origin))
    }

    func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        do throws(ContentCodingError) {
            try chooseDecoder()
            guard let decoder else { return deliver(bytes) }
            guard !decoder.hasInput else { return pause() }
            decoder.receive(bytes)
            try decode(with: decoder)
            return ownFailure == nil ? bytes.count : 0
        } catch {
            ownFailure = TransportError(error)
            return 0
        }
    }

    /// - Returns: libcurl's result for the bytes.
    private func deliver(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        switch options.delivery {
        case .collected(let limit):
            guard bytes.count <= limit - body.count else {
                ownFailure = TransportError(.bodyTooLarge(limit: limit))
                return 0
            }
            if body.isEmpty, let length = head.contentLength { body.reserveCapacity(min(length, limit, 1 << 20)) }
            body.append(contentsOf: bytes)
        case .streamed:
            if let piece = pieceContinuation {
                pieceContinuation = nil
                piece.resume(returning: .success(Array(bytes)))
            } else if body.count >= Self.highWater {
                return pause()
            } else {
                body.append(contentsOf: bytes)
            }
        }
        return bytes.count
    }

    private func pause() -> Int {
        isReceivingPaused = true
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    // MARK: Content codings

    private func chooseDecoder() throws(ContentCodingError) {
        guard let limit = decompressionLimit else { return }
        decompressionLimit = nil
        decoder = try ContentDecoder(head.contentCodings, limit: limit)
    }

    /// Decodes what was received, up to the amount that a streamed body's reader wants.
    private func decode(with decoder: ContentDecoder) throws(ContentCodingError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer { buffer.deallocate() }
        while ownFailure == nil {
            if case .streamed = options.delivery, body.count >= Self.highWater { return }
            let count = try decoder.read(into: buffer)
            guard count > 0 else { return }
            _ = deliver(UnsafeBufferPointer(rebasing: buffer.assumingMemoryBound(to: UInt8.self)[..<count]))
        }
    }

    /// Decodes what was received while the reader had enough, and completes the transfer if nothing is left.
    private func decodeHeld() {
        guard outcome == nil, let decoder, decoder.hasInput || isReceived else { return }
        do throws(ContentCodingError) {
            try decode(with: decoder)
            if let ownFailure { return complete(.failure(ownFailure)) }
            guard isReceived, !decoder.hasInput else { return }
            try decoder.finish(isDelimited: head.isDelimited)
            complete(.success(()))
        } catch {
            release()
            complete(.failure(TransportError(error)))
        }
    }

    func sendBody(_ space: UnsafeMutableRawBufferPointer) -> Int {
        switch upload.next(into: space) {
        case .sent(let count): return count
        case .mustRead(let reader):
            read(from: reader)
            return Int(CURL_READFUNC_PAUSE)
        case .wait: return Int(CURL_READFUNC_PAUSE)
        case .failed(let error):
            ownFailure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    func rewindBody(to offset: Int64, from origin: Int32) -> Bool {
        origin == SEEK_SET && upload.rewind(to: offset)
    }

    /// Reads the next bytes. libcurl isn't asynchronous, so it pauses until the reader has delivered them.
    private func read(from reader: any HTTPBodyReader) {
        guard let loop else { return }
        reading = Task(executorPreference: loop) {
            let piece: Result<[UInt8], any Error>
            do { piece = .success(try await reader.read(upTo: 64 << 10)) } catch { piece = .failure(error) }
            // The reader may have blocked the thread, so the loop may be on another thread by now.
            loop.perform(.upload(self, piece))
        }
    }

    func finish(_ code: CURLcode) {
        guard let handle else { return }
        let message = handle.errorMessage
        let connectStatus = handle.connectStatus
        let peer = code == CURLE_OK ? nil : handle.peer
        let namesNoHost = code == CURLE_PEER_FAILED_VERIFICATION && handle.certificateNamesNoHost
        if onConnection != nil { reportConnection() }
        if let onMetrics = options.onMetrics { onMetrics(handle.metrics) }
        release()
        guard code == CURLE_OK else {
            let error =
                connectStatus >= 300
                ? TransportError(
                    .proxyRefused(status: connectStatus), "", curlCode: Int32(code.rawValue), proxy: peer?.proxy)
                : code == CURLE_OUT_OF_MEMORY && !head.isComplete
                    // libcurl reports a header line beyond its limit as out of memory.
                    ? TransportError(.headTooLarge(limit: Self.maxLineLength), "in one line", curlCode: 8)
                    : code == CURLE_SSL_PINNEDPUBKEYNOTMATCH
                        ? PinnedKeys.mismatch(at: request.origin.authority, curlCode: Int32(code.rawValue))
                        : TransportError(
                            code, namesNoHost ? Self.noHostMessage : peer?.failure(code) ?? message, proxy: peer?.proxy)
            return complete(.failure(ownFailure ?? error))
        }
        guard head.isComplete else {
            return complete(.failure(TransportError(.malformedResponse, "it has no complete header")))
        }
        do throws(ContentCodingError) { if request.method != .head { try chooseDecoder() } } catch {
            return complete(.failure(TransportError(error)))
        }
        guard decoder != nil else { return complete(.success(())) }
        isReceived = true
        decodeHeld()
    }

    // MARK: Outcome

    private func release() {
        guard let handle, let loop else { return }
        self.handle = nil
        // Nothing is sent any more, and a reader might wait forever.
        reading?.cancel()
        reading = nil
        loop.giveBack(handle, wasAdded: isAdded)
        isAdded = false
        selfWhileActive = nil
    }

    /// Records the outcome, and resumes whichever continuation waits for it.
    private func complete(_ outcome: Result<Void, TransportError>) {
        self.outcome = outcome
        if continuation != nil {
            switch outcome {
            case .success:
                let bytes = body
                body = []
                resume(.success(head.response(.bytes(bytes))))
            case .failure(let error): resume(.failure(error))
            }
        }
        if let piece = pieceContinuation {
            pieceContinuation = nil
            piece.resume(returning: outcome.map { nil })
        }
    }

    private func resume(_ result: Result<HTTPResponse, TransportError>) {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: result)
    }

    /// Returns the stream of the body. It holds an owner that cancels the transfer when released, so that an abandoned body is
    /// not fetched.
    private func stream(on loop: CurlLoop) -> HTTPResponseStream {
        let owner = StreamOwner(transfer: self, loop: loop)
        return HTTPResponseStream { () async throws(TransportError) in try await owner.next() }
    }
}

/// Cancels the transfer when the last copy of the stream is released.
private final class StreamOwner: Sendable {
    let transfer: CurlTransfer
    let loop: CurlLoop

    init(transfer: CurlTransfer, loop: CurlLoop) {
        self.transfer = transfer
        self.loop = loop
    }

    deinit {
        loop.perform(.cancel(transfer))
    }

    func next() async throws(TransportError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { loop.perform(.pull(transfer, $0)) }
        } onCancel: {
            loop.perform(.cancel(transfer))
        }
        return try result.get()
    }
}
