internal import Dispatch
internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request on its way: the delegate tells it what comes, its reader asks for it.
final class URLTransfer: Sendable {
    typealias Answer = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    typealias Piece = CheckedContinuation<Result<[UInt8]?, TransportError>, Never>

    private let options: TransferOptions
    private let uploading: Int
    private let start = ContinuousClock.now
    private let state: Locked<State>

    /// What decides; what it says is done outside the lock.
    fileprivate struct State {
        let delivery: TransferOptions.Delivery
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var answer: Answer?
        var head: HTTPResponse?
        var body: [UInt8] = []
        var outcome: Result<Void, TransportError>?
        var waitingForPiece: Piece?
        var metrics = TransferMetrics()
    }

    fileprivate enum Action {
        case none
        case answer(Answer, Result<HTTPResponse, TransportError>)
        case stream(Answer, HTTPResponse)
        case piece(Piece, Result<[UInt8]?, TransportError>)
        case fail(TransportError)
    }

    /// To resume and to cancel, Foundation waits for the one queue on which all sessions of the process receive. Neither a
    /// task's thread may wait there, nor the delegate's, which empties what that queue fills.
    private static let queue = DispatchQueue(label: "NevodHostFoundation.URLTransfer")

    /// How much of a streamed body waits in memory for its reader, at most.
    fileprivate static let mostUnread = 64 << 20

    init(_ options: TransferOptions, uploading: Int) {
        self.options = options
        self.uploading = uploading
        state = Locked(State(delivery: options.delivery))
    }

    func run(_ task: URLSessionTask) async throws(TransportError) -> HTTPResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (answer: Answer) in
                let isCancelled = state.withLock { state in
                    guard state.outcome == nil else { return true }
                    state.task = task
                    state.answer = answer
                    return false
                }
                guard !isCancelled else {
                    Self.queue.async { task.cancel() }
                    return answer.resume(returning: .failure(TransportError(.cancelled)))
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
        let isOver = state.withLock { state in
            state.timer = timer
            return state.outcome != nil
        }
        if isOver { timer.cancel() }
    }

    // MARK: From the delegate

    func receiveHead(_ response: HTTPURLResponse) {
        let firstByte = seconds
        perform(state.withLock { $0.receiveHead(response, at: firstByte) })
    }

    func receive(_ data: Data) {
        perform(state.withLock { $0.receive(data) })
    }

    /// The first outcome counts; the others are its echo.
    func finish(_ outcome: Result<Void, TransportError>) {
        let end = seconds
        let (action, task, metrics) = state.withLock { state -> (Action, URLSessionTask?, TransferMetrics?) in
            guard state.outcome == nil else { return (.none, nil, nil) }
            state.metrics.total = end
            state.metrics.uploaded = uploading
            let action = state.finish(outcome)
            defer { state.task = nil }
            return (action, state.task, state.metrics)
        }
        guard let metrics else { return }
        if let task { Self.queue.async { task.cancel() } }  // One that has ended takes no notice.
        options.onMetrics?(metrics)
        perform(action)
    }

    private func perform(_ action: Action) {
        switch action {
        case .none: break
        case .answer(let answer, let result): answer.resume(returning: result)
        case .stream(let answer, let head): answer.resume(returning: .success(head.withBody(.stream(stream()))))
        case .piece(let piece, let result): piece.resume(returning: result)
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
            await withCheckedContinuation { (piece: Piece) in perform(state.withLock { $0.pull(piece) }) }
        } onCancel: {
            finish(.failure(TransportError(.cancelled)))
        }
        return try result.get()
    }

    /// Lives as long as somebody may read the body: one that nobody reads any more is not fetched.
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
            return .fail(TransportError(.malformedResponse, "its status is \(response.statusCode)"))
        }
        let head = HTTPResponse(response)
        self.head = head
        guard case .streamed = delivery, let answer else { return .none }
        self.answer = nil
        return .stream(answer, head)
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
        case .streamed where body.count + data.count > URLTransfer.mostUnread:
            let reason = "its reader is more than 64 MiB behind, and URLSession can't wait for it; CurlSession can"
            return .fail(TransportError(.other, reason))
        default:
            body += data
            return .none
        }
    }

    fileprivate mutating func pull(_ piece: URLTransfer.Piece) -> URLTransfer.Action {
        if !body.isEmpty {
            defer { body = [] }
            return .piece(piece, .success(body))
        }
        guard let outcome else {
            waitingForPiece = piece
            return .none
        }
        return .piece(piece, outcome.map { nil })
    }

    fileprivate mutating func finish(_ outcome: Result<Void, TransportError>) -> URLTransfer.Action {
        var outcome = outcome
        if case .success = outcome, head == nil { outcome = .failure(TransportError(.malformedResponse, "it has no head")) }
        self.outcome = outcome
        timer?.cancel()
        timer = nil
        if let piece = waitingForPiece {
            waitingForPiece = nil
            return .piece(piece, outcome.map { nil })
        }
        guard let answer else { return .none }
        self.answer = nil
        defer { body = [] }
        return .answer(answer, outcome.flatMap { head.map { .success($0.withBody(.bytes(body))) } ?? .failure(.init(.other)) })
    }
}
