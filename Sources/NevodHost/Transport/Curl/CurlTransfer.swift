internal import CCurl
internal import Glibc
internal import NevodSupport

/// One request on its way. Everything in it belongs to the loop's thread, from `start` on.
final class CurlTransfer: @unchecked Sendable {  // Made by the sender, handed to the loop, never touched by the sender again.
    typealias Answer = UnsafeContinuation<Result<HTTPResponse, TransportError>, Never>
    typealias Piece = UnsafeContinuation<Result<[UInt8]?, TransportError>, Never>

    let request: HTTPRequest
    let options: TransferOptions
    private var answer: Answer?
    private var loop: CurlLoop?
    private var handle: CurlHandle?
    /// Keeps this object while libcurl knows it.
    private var selfWhileActive: CurlTransfer?
    private var isCancelled = false
    private var isAdded = false
    /// Why we made libcurl stop.
    private var ownFailure: TransportError?

    private var head = ResponseHead(largest: 0)
    private var body: [UInt8] = []
    private var isReceivingPaused = false
    private var outcome: Result<Void, TransportError>?
    private var waitingForPiece: Piece?

    private var upload: CurlUpload

    /// libcurl's own limit for a line of a head.
    private static let longestLine = 100 << 10

    /// How much of a streamed body waits in memory for its reader.
    private static let highWater = 256 << 10

    init(_ request: HTTPRequest, _ options: TransferOptions) {
        self.request = request
        self.options = options
        upload = CurlUpload(request.body)
    }

    func setAnswer(_ answer: Answer) {
        self.answer = answer
    }

    // MARK: Commands

    func start(on loop: CurlLoop) {
        self.loop = loop
        guard !isCancelled else { return settle(.failure(TransportError(.cancelled))) }
        guard let handle = loop.takeHandle() else {
            return settle(.failure(TransportError(.other, "libcurl has no memory for a transfer")))
        }
        self.handle = handle
        head = ResponseHead(largest: handle.maxHeaderSize)
        do throws(TransportError) { try handle.prepare(self) } catch {
            release()
            return settle(.failure(error))
        }
        let code = loop.add(handle)
        guard code == CURLM_OK else {
            release()
            return settle(.failure(TransportError(.other, String(cString: curl_multi_strerror(code)))))
        }
        isAdded = true
        selfWhileActive = self
    }

    func cancel() {
        isCancelled = true
        guard handle != nil else { return }
        release()
        settle(.failure(TransportError(.cancelled)))
    }

    func pull(_ piece: Piece) {
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
            waitingForPiece = piece
            resumeReceiving()
        }
    }

    private func resumeReceiving() {
        guard isReceivingPaused, let handle else { return }
        isReceivingPaused = false
        curl_easy_pause(handle.easy, CURLPAUSE_CONT)
    }

    // MARK: From libcurl

    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !head.isComplete else { return true }  // A trailer: ignored, it could pass for a header (RFC 9110 §6.5.1).
        do throws(TransportError) {
            try head.receive(line)
        } catch {
            ownFailure = error
            return false
        }
        if head.isComplete, case .streamed = options.delivery {
            resume(.success(head.response(.stream(stream()))))
        }
        return true
    }

    func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        switch options.delivery {
        case .collected(let limit):
            guard body.count + bytes.count <= limit else {
                ownFailure = TransportError(.bodyTooLarge(limit: limit))
                return 0
            }
            if body.isEmpty, let length = head.contentLength { body.reserveCapacity(min(length, limit, 1 << 20)) }
            body.append(contentsOf: bytes)
        case .streamed:
            if let piece = waitingForPiece {
                waitingForPiece = nil
                piece.resume(returning: .success(Array(bytes)))
            } else if body.count >= Self.highWater {
                isReceivingPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            } else {
                body.append(contentsOf: bytes)
            }
        }
        return bytes.count
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

    /// The reader is asynchronous and libcurl is not: it pauses until the reader's bytes have come.
    private func read(from reader: any HTTPBodyReader) {
        guard let loop else { return }
        Task(executorPreference: loop) {
            do {
                self.upload.receive(.success(try await reader.read(upTo: 64 << 10)))
            } catch {
                self.upload.receive(.failure(error))
            }
            if let handle = self.handle, self.isAdded { curl_easy_pause(handle.easy, CURLPAUSE_CONT) }
        }
    }

    func finish(_ code: CURLcode) {
        guard let handle else { return }
        let message = handle.errorMessage
        let connectStatus = handle.connectStatus
        if let onMetrics = options.onMetrics { onMetrics(handle.metrics) }
        release()
        guard code == CURLE_OK else {
            let error =
                connectStatus >= 300
                ? TransportError(.proxyRefused(status: connectStatus), "", curlCode: Int32(code.rawValue))
                : code == CURLE_OUT_OF_MEMORY && !head.isComplete
                    // What libcurl says of a line that is longer than it takes.
                    ? TransportError(.headTooLarge(limit: Self.longestLine), "one line", curlCode: 8)
                    : TransportError(code, message)
            return settle(.failure(ownFailure ?? error))
        }
        guard head.isComplete else { return settle(.failure(TransportError(.malformedResponse, "it has no head"))) }
        settle(.success(()))
    }

    // MARK: Outcome

    private func release() {
        guard let handle, let loop else { return }
        self.handle = nil
        loop.giveBack(handle, wasAdded: isAdded)
        isAdded = false
        selfWhileActive = nil
    }

    private func settle(_ outcome: Result<Void, TransportError>) {
        self.outcome = outcome
        if answer != nil {
            switch outcome {
            case .success:
                let bytes = body
                body = []
                resume(.success(head.response(.bytes(bytes))))
            case .failure(let error): resume(.failure(error))
            }
        }
        if let piece = waitingForPiece {
            waitingForPiece = nil
            piece.resume(returning: outcome.map { nil })
        }
    }

    private func resume(_ result: Result<HTTPResponse, TransportError>) {
        guard let answer else { return }
        self.answer = nil
        answer.resume(returning: result)
    }

    /// The stream holds an owner whose end cancels the transfer: a body that nobody reads any more is not fetched.
    private func stream() -> HTTPResponseStream {
        guard let loop else { preconditionFailure("a head arrives on the loop") }
        let owner = StreamOwner(transfer: self, loop: loop)
        return HTTPResponseStream { () async throws(TransportError) in try await owner.next() }
    }
}

/// Lives as long as somebody may read the body.
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
