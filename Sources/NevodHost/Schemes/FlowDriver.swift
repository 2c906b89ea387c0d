internal import NevodPluginABI
internal import NevodSupport

/// Runs a flow: performs the actions that it returns, and passes the results to its next step. The flow itself does no I/O.
struct FlowDriver: Sendable {
    let instance: SchemeInstance
    let session: any HTTPTransport
    /// Nil if no person can be asked.
    var interaction: (any UserInteraction)?
    var limits = FlowLimits()
    /// The parameters that the flow's token is for; nil if there are none.
    var parameters: ParameterSet?
    /// The lines that the flow's requests share with the client's requests.
    var client = ClientLines()
    /// Receives a line if the clock of a server differs from this machine's.
    var logger: (any NetworkLogger)?

    /// - Parameters:
    ///   - account: the account that the user wants; if empty, the token's account.
    ///   - response: the response with the challenge, for a challenge flow.
    ///   - origin: the origin whose state the flow uses, and that sent the challenge; nil for a login, which precedes any
    ///     request.
    ///   - keep: saves a token durably.
    /// - Returns: the issued token; nil if the scheme has no flow of this kind.
    /// - Throws: ``PluginError``, `CancellationError`, and the errors of `keep` and the interaction.
    func run(
        _ kind: FlowKind, token: IssuedToken? = nil, account: String = "", response: FlowResponse? = nil,
        at origin: Origin? = nil, keep: (IssuedToken) async throws -> Void
    ) async throws -> IssuedToken? {
        let deadline = ContinuousClock.now + limits.duration
        guard let flow = try await Flow.begin(kind, of: instance, until: callDeadline(within: deadline)) else { return nil }
        var work = Work(
            origins: instance.flowOrigins, deadline: deadline, clockOrigin: instance.firstClockOrigin(of: origin))
        // A proxy's challenge says nothing about the origin.
        if kind == .challenge, instance.target == .origin { work.origins.challenge = origin }
        defer { work.listener?.stop() }
        if kind == .login, let interaction {
            let (title, origins) = (instance.scheme.title, work.origins.allowed)
            _ = try await bounded(work) { await interaction.loginBegins(with: title, at: origins) }
        }
        let correction = instance.clocks.correction(at: work.clockOrigin)
        let tokenAccount = token?.account ?? ""
        var event = FlowEvent.start(
            token: token?.moved(by: correction), response: response, account: account.isEmpty ? tokenAccount : account,
            parameters: parameters)
        let place = instance.place(account: tokenAccount, origin: origin)
        var kept: Secret?
        var count = FlowCount(limits)
        while true {
            let (action, state) = try await step(flow, event, at: place, work)
            if let problem = count.add(action, after: event) { throw flow.fault(problem) }
            // A login's account, and so the place of its state, is known only when the login finishes.
            if kind == .login { kept = state ?? kept } else if let state { instance.setState(state, at: place) }
            // A person may take long, and a login doesn't use the stored token, so other processes need not wait for the login.
            if kind == .login, action.userAction != nil { RenewalContext.renewals.last?.releaseLock() }
            do {
                switch action {
                case .token(let issued):
                    guard !issued.bytes.isEmpty || kind == .logout else { throw flow.fault("its token is empty") }
                    let issued = issued.replacing(token).moved(by: -instance.clocks.correction(at: work.clockOrigin))
                    if let kept { instance.setState(kept, at: instance.place(account: issued.account, origin: nil)) }
                    return issued
                case .keep(let issued):
                    try await keep(issued.replacing(token).moved(by: -instance.clocks.correction(at: work.clockOrigin)))
                    event = .kept
                default: event = try await result(of: action, flow, &work)
                }
                try Task.checkCancellation()
            } catch is CancellationError {
                // The flow learns of the cancellation in one last step, whose action is ignored.
                await cancel(flow, now: work.time(of: instance), state: instance.state(at: place), until: deadline)
                throw CancellationError()
            }
        }
    }

    /// Runs the flow's next step. If the step ends the flow because of an unsupported action, the interaction may have a better
    /// error.
    private func step(
        _ flow: Flow, _ event: FlowEvent, at place: StatePlace, _ work: Work
    ) async throws -> (FlowAction, state: Secret?) {
        do {
            return try await finished(
                Task {
                    try await flow.step(
                        event, now: work.time(of: instance), state: instance.state(at: place),
                        until: callDeadline(within: work.deadline),
                        supports: { [interaction] action in interaction?.supports(action) ?? action.isPossibleAlone })
                })
        } catch let error as PluginError {
            guard case .unanswered = error.reason else { throw error }
            let tried = flow.unsupported.compactMap(\.action)
            // The interaction can't explain an action that it doesn't know.
            guard !tried.isEmpty, tried.count == flow.unsupported.count else { throw error }
            throw interaction?.error(forUnsupported: tried) ?? error
        }
    }

    private func callDeadline(within deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
        min(deadline, .now + limits.call)
    }

    /// Returns the result of a step. If the scheme doesn't block, the step may finish even if this task is cancelled: steps are
    /// serial, so the flow can't learn of the cancellation any earlier.
    private func finished<Success>(_ step: Task<Success, any Error>) async throws -> Success {
        let pause: Duration = instance.mayBlock ? .zero : Self.lastPause
        return try await withTaskCancellationHandler {
            try await step.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: pause)
                step.cancel()
            }
        }
    }

    /// How long to wait for a cancelled flow at most.
    private static let lastPause = Duration.seconds(5)

    private func cancel(_ flow: Flow, now: UnixTime, state: Secret?, until deadline: ContinuousClock.Instant) async {
        // Needs a task of its own, since this one is cancelled. Waits only for a scheme that doesn't block.
        let limit = instance.mayBlock ? callDeadline(within: deadline) : min(deadline, .now + Self.lastPause)
        let step = Task { try await flow.step(.cancelled, now: now, state: state, until: limit) }
        if !instance.mayBlock { _ = try? await step.value }
    }

    /// The progress of a flow: allowed origins, used-up limits and the open listener.
    private struct Work {
        var origins: FlowOrigins
        let deadline: ContinuousClock.Instant
        /// The origin of the last response, whose clock gives the time of the next event. Nil for the local time.
        var clockOrigin: Origin?
        var bytes = 0
        var listener: LoopbackListener?
        /// The address that was opened for this listener.
        var opened: String?
        var rest: Duration { deadline - .now }

        func time(of instance: SchemeInstance) -> UnixTime {
            UnixTime(nanoseconds: instance.clocks.nanoseconds(at: clockOrigin))
        }
    }

    private func result(of action: FlowAction, _ flow: Flow, _ work: inout Work) async throws -> FlowEvent {
        guard work.rest > .zero else { throw flow.fault("it took more than \(limits.duration)") }
        switch action {
        case .send(let request): return try await response(to: request, flow, &work)
        case .ask(let questions): return .answers(try await answers(to: questions, flow, work))
        case .show(let text, let url):
            if let interaction {
                let isShown: Void? = try await bounded(work) { try await interaction.show(text, url: url) }
                guard isShown != nil else { throw instance.unanswered(["show"]) }
            }
            return .shown
        case .listen(let uri):
            // The next listener may want the same port.
            work.listener?.stop()
            (work.listener, work.opened) = (nil, nil)
            do throws(ListenError) {
                let listener = try LoopbackListener(uri)
                work.listener = listener
                return .listening(url: listener.url)
            } catch {
                return .transportError(error.isTransient ? .transient : .permanent, error.description)
            }
        case .browse(let url): return try await browse(url, flow, &work)
        case .wait(let pause):
            guard pause <= work.rest else {
                throw flow.fault("it asked to wait for \(pause), longer than the rest of its \(limits.duration)")
            }
            try await Task.sleep(for: max(pause, .milliseconds(1)))
            return .timer
        case .keep, .token: throw flow.fault("it returned an action that is not a step of its work")
        }
    }

    private func answers(to questions: [FlowQuestion], _ flow: Flow, _ work: Work) async throws -> [String: Secret] {
        guard let interaction else { throw instance.unanswered(questions.map(\.name)) }
        let answers = try await bounded(work) { try await interaction.answers(to: questions) }
        guard let answers else { throw instance.unanswered(questions.map(\.name)) }
        if let missing = questions.first(where: { answers[$0.name] == nil }) {
            throw instance.unanswered([missing.name])
        }
        // The contract promises the flow one of the choices.
        let other = questions.first { question in
            guard case .choice(let choices) = question.kind, let answer = answers[question.name] else { return false }
            return !choices.contains { Secret(copying: Array($0.utf8)) == answer }
        }
        if let other { throw instance.unanswered([other.name]) }
        return answers
    }

    private func browse(_ url: String, _ flow: Flow, _ work: inout Work) async throws -> FlowEvent {
        guard let listener = work.listener else { throw flow.fault("it called browse before listen") }
        guard let origin = try? HTTPURL(url).origin, work.origins.allow(origin) else {
            throw flow.fault("it tried to open an address at an origin that no setting names")
        }
        guard let interaction else { throw instance.unanswered(["browser"]) }
        // A flow that ignores a redirect waits again. Any program can send a redirect, which must not open another window.
        if work.opened != url {
            let isOpen: Void? = try await bounded(work) { try await interaction.open(url) }
            guard isOpen != nil else { throw instance.unanswered(["browser"]) }
            work.opened = url
        }
        do {
            let redirect = try await listener.redirect(until: work.deadline)
            return .redirect(url: redirect.url, body: redirect.body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw instance.unanswered(["browser"])
        }
    }

    /// Runs `body`, and returns nil at the flow's deadline. If `body` ignores its cancellation, it runs on, and its result is
    /// dropped.
    private func bounded<Success: Sendable>(
        _ work: Work, _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success? {
        let waiter = Waiter<Success>()
        let task = Task {
            do { waiter.resume(with: .success(try await body())) } catch { waiter.resume(with: .failure(error)) }
        }
        defer { task.cancel() }
        do { return try await waiter.value(until: work.deadline) } catch is DeadlineExceededError { return nil }
    }
}

// MARK: Sending

extension FlowDriver {
    private static let largestResponse = Int(NEVOD_LIMIT_FLOW_RESPONSE)

    /// Sends a request and follows redirects to allowed origins. A redirect to another origin is returned as the response.
    private func response(to flowRequest: FlowRequest, _ flow: Flow, _ work: inout Work) async throws -> FlowEvent {
        var request = flowRequest.request
        client.add(to: &request)
        guard work.origins.allowsSending(to: request.origin) else {
            let allowed = work.origins.allowed.map(\.description).joined(separator: ", ")
            throw flow.fault(
                "it tried to send to \(request.origin), which no setting names"
                    + (allowed.isEmpty ? "; the settings name no origin" : "; allowed are \(allowed)"))
        }
        var redirects = RedirectChain(flowRequest.followsRedirects ? .follow(limit: Int(NEVOD_LIMIT_FLOW_REDIRECTS)) : .none)
        let provider = NetworkProvider(session: session)
        while true {
            do throws(NetworkError) {
                var options = RequestOptions(
                    timeout: min(work.rest, .seconds(60)), delivery: .collected(limit: Self.largestResponse), redirects: .none)
                // A server may end the session if a refresh token or a code is spent twice (RFC 9700 §4.14.2).
                options.transfer.sendsOnce = !request.isIdempotent
                let sent = instance.clocks.uptimeNow()
                let response = try await provider.send(request, options)
                instance.clocks.learn(from: response, to: request.origin, sentAt: sent, logger)
                work.clockOrigin = request.origin
                work.bytes += response.body.count
                guard work.bytes <= limits.bytes else { break }
                if let next = try redirect(after: response, to: request, &redirects), work.origins.allowsSending(to: next.origin)
                {
                    request = next
                    continue
                }
                let flowResponse = FlowResponse(
                    status: response.status, headers: response.headers, body: response.body.collected, url: request.url)
                work.origins.learn(from: flowResponse)
                return .response(flowResponse)
            } catch .cancelled {
                throw CancellationError()
            } catch {
                return .transportError(FlowTransportError(error), error.description)
            }
        }
        throw flow.fault("its responses have more than \(limits.bytes) bytes in total")
    }

    private func redirect(
        after response: HTTPResponse, to request: HTTPRequest, _ redirects: inout RedirectChain
    ) throws(NetworkError) -> HTTPRequest? {
        do throws(RedirectError) {
            guard case .follow(let next) = try redirects.next(after: response, to: request, sent: request) else { return nil }
            return next
        } catch {
            throw .redirect(error)
        }
    }
}

extension HTTPResponseBody {
    fileprivate var collected: [UInt8] {
        if case .bytes(let bytes) = self { bytes } else { [] }
    }

    fileprivate var count: Int { collected.count }
}

extension SchemeInstance {
    /// The origin whose clock gives the time of a flow's first event: the challenged request's, or the only one that the settings
    /// name. Nil, for the local time, if the settings name several: the flow has not chosen one yet.
    fileprivate func firstClockOrigin(of challenged: Origin?) -> Origin? {
        if let challenged { return target == .proxy ? nil : challenged }
        return flowOrigins.named.count == 1 ? flowOrigins.named[0] : nil
    }
}

extension UserAction {
    /// Whether the action can be performed without a person: a text may go unread, but a person has to open an address.
    fileprivate var isPossibleAlone: Bool {
        if case .show(_, let url) = self { url.isEmpty } else { false }
    }
}
