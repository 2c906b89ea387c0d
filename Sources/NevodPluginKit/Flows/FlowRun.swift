internal import NevodPluginABI
internal import NevodSupport
internal import _Concurrency

/// The target of the host's pointer to a flow: a function that runs only while the host calls `flow_step`.
final class FlowRun {
    private let function: FlowFunction
    private let flow = AuthFlow()
    private let queue = FlowQueue()
    private var task: Task<Void, Never>?
    private var isClosed = false

    init(_ function: FlowFunction) {
        self.function = function
    }

    /// Cancels a function that hasn't finished, and runs it until it returns, so that it releases everything it holds.
    deinit {
        FlowQueue.enter()
        defer { FlowQueue.leave() }
        close()
    }

    func step(_ event: nevod_event, _ actions: UnsafePointer<nevod_actions>) throws(SchemeError) {
        FlowQueue.enter()
        defer { FlowQueue.leave() }
        flow.state.withLock {
            $0.unixNanoseconds = event.unix_time_ns
            $0.random = Array(event.random.buffer)
        }
        switch Int(event.kind) {
        case NEVOD_EVENT_START: try start(event)
        case NEVOD_EVENT_CANCELLED: try cancel()
        default: try resume(with: reply(to: event))
        }
        queue.drain()
        try hand(over: flow.state.withLock { $0.turn() }, to: actions)
    }

    private func start(_ event: nevod_event) throws(SchemeError) {
        // A closed queue would run the function on a thread of the pool, outside the host's calls.
        guard task == nil, !isClosed else { throw .internal("the host started one flow twice") }
        let start = FlowStart(token: event.token.map { IssuedToken($0) }, response: event.response.map { FlowResponse($0) })
        flow.state.withLock {
            $0.token = start.token
            $0.parameters = UnsafeBufferPointer(start: event.parameters, count: Int(event.parameter_count))
                .map { ($0.name.string, $0.value.string) }
            $0.account = event.account.string
            $0.kept = Array(event.state.buffer)
        }
        let (function, flow) = (function, flow)
        task = queue.start {
            let result: Result<IssuedToken, SchemeError>
            do throws(SchemeError) { result = .success(try await function.run(flow, start)) } catch { result = .failure(error) }
            let leftBehind = flow.state.withLock { $0.finish(result) }
            leftBehind?.resume(returning: .failure(.internal("a task of the flow continued after the flow had finished")))
        }
    }

    private func resume(with reply: Result<FlowReply, SchemeError>) throws(SchemeError) {
        guard let continuation = flow.state.withLock({ $0.takeWaiting() }) else {
            throw .internal("the host sent an event to a flow that isn't waiting for one")
        }
        continuation.resume(returning: reply)
    }

    private func cancel() throws(SchemeError) {
        close()
        guard flow.state.withLock({ $0.asksAfterClose }) == 0 else {
            throw .internal("the flow continued after it was cancelled")
        }
        throw .unavailable("the flow was cancelled")
    }

    private func close() {
        isClosed = true
        let continuation = flow.state.withLock { $0.close() }
        task?.cancel()
        continuation?.resume(returning: .failure(.cancelled))
        queue.drainAndClose()
        task = nil
    }

    private func hand(over turn: FlowState.Turn, to actions: UnsafePointer<nevod_actions>) throws(SchemeError) {
        if let state = flow.state.withLock({ $0.takeNewState() }) {
            state.withUnsafeBytes { _ = actions.pointee.set_state(actions.pointee.host, nevod_bytes($0)) }
        }
        switch turn {
        case .act(let action):
            guard action.hand(to: actions) == NEVOD_UNSUPPORTED else { return }
            guard let continuation = flow.state.withLock({ $0.takeUnsupported() }) else {
                close()
                throw .internal("the flow tried too many actions that the host doesn't support")
            }
            // The step is still open, so the function's next request becomes the step's action.
            continuation.resume(returning: .failure(.unsupported(action)))
            queue.drain()
            try hand(over: flow.state.withLock { $0.turn() }, to: actions)
        case .finished(.success(let token)):
            _ = token.withTable { actions.pointee.token(actions.pointee.host, $0) }
        case .finished(.failure(let error)): throw error
        case .suspended:
            close()
            throw .internal("suspended outside flow: it awaits something other than its AuthFlow")
        }
    }

    private func reply(to event: nevod_event) -> Result<FlowReply, SchemeError> {
        switch Int(event.kind) {
        case NEVOD_EVENT_RESPONSE:
            guard let response = event.response else { break }
            return .success(.response(FlowResponse(response)))
        case NEVOD_EVENT_TRANSPORT_ERROR:
            return .failure(.transport(TransportFailure(event.transport_error), event.message.string))
        case NEVOD_EVENT_ANSWERS:
            let answers = UnsafeBufferPointer(start: event.answers, count: Int(event.answer_count))
            return .success(
                .answers(answers.map { FlowAnswer(name: $0.name.string, value: Secret(copying: $0.value.buffer)) }))
        case NEVOD_EVENT_LISTENING: return .success(.url(event.url.string))
        case NEVOD_EVENT_REDIRECT: return .success(.redirect(FlowRedirect(event)))
        case NEVOD_EVENT_SHOWN, NEVOD_EVENT_TIMER, NEVOD_EVENT_KEPT: return .success(.done)
        default: break
        }
        return .failure(.unsupported("the host sent an event that the kit doesn't know"))
    }
}
