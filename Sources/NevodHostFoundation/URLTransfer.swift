internal import Dispatch
internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One transfer. The delegate delivers its events; the caller, and the reader of a streamed body, wait for them.
final class URLTransfer: Sendable {
    typealias ResponseContinuation = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    typealias PieceContinuation = CheckedContinuation<Result<[UInt8]?, TransportError>, Never>

    private let options: TransferOptions
    private let uploading: Int
    private let start = ContinuousClock.now
    private let state: Locked<State>

    /// The pure part. Its methods return an action, which is performed outside the lock.
    fileprivate struct State {
        let delivery: TransferOptions.Delivery
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var waitingForResponse: ResponseContinuation?
        var head: HTTPResponse?
        var body: [UInt8] = []
        var outcome: Result<Void, TransportError>?
        var waitingForPiece: PieceContinuation?
        var metrics = TransferMetrics()
    }

    fileprivate enum Action {
        case none
        case deliver(ResponseContinuation, Result<HTTPResponse, TransportError>)
        case stream(ResponseContinuation, HTTPResponse)
        case piece(PieceContinuation, Result<[UInt8]?, TransportError>)
        case fail(TransportError)
    }

    /// Calls `resume` and `cancel`, which wait for the one queue on which all sessions of the process receive. The threads of
    /// Swift tasks must not block there. Nor must the delegate's thread, which consumes what that queue produces.
    private static let queue = DispatchQueue(label: "NevodHostFoundation.URLTransfer")

    /// Limits the bytes of a streamed body that its reader has not taken yet.
    fileprivate static let maxUnreadBytes = 64 << 20

    init(_ options: TransferOptions, uploading: Int) {
        self.options = options
        self.uploading = uploading
        state = Locked(State(delivery: options.delivery))
    }

    func run(_ task: URLSessionTask) async throws(TransportError) -> HTTPResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: ResponseContinuation) in
                let isCancelled = state.withLock { state in
                    guard state.outcome == nil else { return true }
                    state.task = task
                    state.waitingForResponse = continuation
                    return false
                }
                guard !isCancelled else {
                    Self.queue.async { task.cancel() }
                    return continuation.resume(returning: .failure(TransportError(.cancelled)))
                }
                startTimer()
                Self.queue.async { task.resume() }
            }
        } onCancel: {
            finish(.failure(TransportError(.cancelled)))
        }
        return try result.get()
    }

    private func startTimer() {
        guard let timeout = options.timeout else { return }
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            self?.finish(.failure(TransportError(.timedOut)))
        }
        let isFinished = state.withLock { state in
            state.timer = timer
            return state.outcome != nil
        }
        if isFinished { timer.cancel() }
    }

    // MARK: From the delegate

    func receiveHead(_ response: HTTPURLResponse) {
        let firstByte = seconds
        perform(state.withLock { $0.receiveHead(response, at: firstByte) })
    }

    func receive(_ data: Data) {
        perform(state.withLock { $0.receive(data) })
    }

    /// Sets the outcome. Only the first call has an effect; it causes the later ones.
    func finish(_ outcome: Result<Void, TransportError>) {
        let total = seconds
        let (action, task, metrics) = state.withLock { state -> (Action, URLSessionTask?, TransferMetrics?) in
            guard state.outcome == nil else { return (.none, nil, nil) }
            state.metrics.total = total
            state.metrics.uploaded = uploading
            let action = state.finish(outcome)
            defer { state.task = nil }
            return (action, state.task, state.metrics)
        }
        guard let metrics else { return }
        if let task { Self.queue.async { task.cancel() } }  // Has no effect on a finished task.
        options.onMetrics?(metrics)
        perform(action)
    }

    private func perform(_ action: Action) {
        switch action {
        case .none: break
        case .deliver(let continuation, let result): continuation.resume(returning: result)
        case .stream(let continuation, let head):
            continuation.resume(returning: .success(head.withBody(.stream(stream()))))
        case .piece(let continuation, let result): continuation.resume(returning: result)
        case .fail(let error): finish(.failure(error))
        }
    }

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    // MARK: From the reader

    private func stream() -> HTTPResponseStream {
        let reader = Reader(transfer: self)
        return HTTPResponseStream { () async throws(TransportError) in try await reader.transfer.next() }
    }

    private func next() async throws(TransportError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: PieceContinuation) in
                perform(state.withLock { $0.pull(continuation) })
            }
        } onCancel: {
            finish(.failure(TransportError(.cancelled)))
        }
        return try result.get()
    }

    /// Owned by the body's stream. When the last reference is released, the rest of the body is no longer fetched.
    private final class Reader: Sendable {
        let transfer: URLTransfer

        init(transfer: URLTransfer) {
            self.transfer = transfer
        }

        deinit {
            transfer.finish(.failure(TransportError(.cancelled)))
        }
    }
}

extension URLTransfer.State {
    fileprivate mutating func receiveHead(_ response: HTTPURLResponse, at seconds: Double) -> URLTransfer.Action {
        guard outcome == nil, head == nil else { return .none }
        metrics.firstByte = seconds
        guard (100...599).contains(response.statusCode) else {
            return .fail(TransportError(.malformedResponse, "the status is \(response.statusCode), not a number from 100 to 599"))
        }
        let head = HTTPResponse(response)
        self.head = head
        guard case .streamed = delivery, let continuation = waitingForResponse else { return .none }
        waitingForResponse = nil
        return .stream(continuation, head)
    }

    fileprivate mutating func receive(_ data: Data) -> URLTransfer.Action {
        guard outcome == nil else { return .none }
        metrics.downloaded += data.count
        if let piece = waitingForPiece {
            waitingForPiece = nil
            return .piece(piece, .success(Array(data)))
        }
        switch delivery {
        case .collected(let limit) where body.count + data.count > limit:
            return .fail(TransportError(.bodyTooLarge(limit: limit)))
        case .streamed where body.count + data.count > URLTransfer.maxUnreadBytes:
            let reason = "more than 64 MiB of the body are unread, and URLSession can't slow the server down; CurlSession can"
            return .fail(TransportError(.other, reason))
        default:
            body += data
            return .none
        }
    }

    fileprivate mutating func pull(_ continuation: URLTransfer.PieceContinuation) -> URLTransfer.Action {
        if !body.isEmpty {
            defer { body = [] }
            return .piece(continuation, .success(body))
        }
        guard let outcome else {
            waitingForPiece = continuation
            return .none
        }
        return .piece(continuation, outcome.map { nil })
    }

    fileprivate mutating func finish(_ outcome: Result<Void, TransportError>) -> URLTransfer.Action {
        var outcome = outcome
        if case .success = outcome, head == nil {
            outcome = .failure(TransportError(.malformedResponse, "the response has no head"))
        }
        self.outcome = outcome
        timer?.cancel()
        timer = nil
        if let piece = waitingForPiece {
            waitingForPiece = nil
            return .piece(piece, outcome.map { nil })
        }
        guard let continuation = waitingForResponse else { return .none }
        waitingForResponse = nil
        defer { body = [] }
        return .deliver(
            continuation, outcome.flatMap { head.map { .success($0.withBody(.bytes(body))) } ?? .failure(.init(.other)) })
    }
}
