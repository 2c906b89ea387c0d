internal import NevodSupport

/// What a flow is given before the host ends it.
struct FlowLimits: Sendable {
    var steps = 100
    /// Of all answers together.
    var bytes = 8 << 20
    /// With everything that it waits for, people too.
    var duration: Duration = .seconds(600)
}

/// Runs a flow: does what it asks for, and tells it what came of that. The flow itself neither sends nor waits.
struct FlowDriver: Sendable {
    let instance: SchemeInstance
    let session: any HTTPTransport
    /// Nil: nobody is there.
    let interaction: (any UserInteraction)?
    var limits = FlowLimits()

    /// - Parameters:
    ///   - origin: that the flow is about; nil for a login, which comes before any request.
    ///   - keep: saves a token durably.
    /// - Returns: what it issued; nil if the scheme has no flow of this kind.
    /// - Throws: ``PluginError``, `CancellationError`, and what `keep` and the interaction throw.
    func run(
        _ kind: FlowKind, token: IssuedToken? = nil, answer: FlowResponse? = nil, at origin: Origin? = nil,
        keep: (IssuedToken) async throws -> Void
    ) async throws -> IssuedToken? {
        guard let flow = try Flow(kind, of: instance) else { return nil }
        var work = Work(origins: instance.flowOrigins, deadline: .now + limits.duration)
        defer { work.listener?.stop() }
        if kind == .login, let interaction {
            let (title, origins) = (instance.scheme.title, work.origins.allowed)
            _ = try await bounded(work) { await interaction.loginBegins(with: title, at: origins) }
        }
        var event = FlowEvent.start(token: token, answer: answer)
        let place = instance.place(account: token?.account ?? "", origin: origin)
        var kept: Secret?
        for _ in 0..<limits.steps {
            let (action, state) = try flow.step(event, now: instance.clock.now, state: instance.state(at: place))
            // Whose state a login keeps is known when it is done.
            if kind == .login { kept = state ?? kept } else if let state { instance.setState(state, at: place) }
            // A login needs nothing of the stored token, and a person may take long: others need not wait for that.
            if kind == .login, action.involvesPeople { RenewalContext.renewals.last?.releaseLock() }
            do {
                switch action {
                case .token(let issued):
                    guard !issued.bytes.isEmpty || kind == .logout else { throw flow.fault("its token is empty") }
                    let issued = issued.replacing(token)
                    if let kept { instance.setState(kept, at: instance.place(account: issued.account, origin: nil)) }
                    return issued
                case .keep(let issued):
                    try await keep(issued.replacing(token))
                    event = .kept
                default: event = try await result(of: action, flow, &work)
                }
                try Task.checkCancellation()
            } catch is CancellationError {
                // Once; whatever it answers, it is over.
                _ = try? flow.step(.cancelled, now: instance.clock.now, state: instance.state(at: place))
                throw CancellationError()
            }
        }
        throw flow.fault("it took more than \(limits.steps) steps")
    }

    /// What a flow has used up, and what it has open.
    private struct Work {
        var origins: FlowOrigins
        let deadline: ContinuousClock.Instant
        var bytes = 0
        var listener: LoopbackListener?
        var rest: Duration { deadline - .now }
    }

    private func result(of action: FlowAction, _ flow: Flow, _ work: inout Work) async throws -> FlowEvent {
        guard work.rest > .zero else { throw flow.fault("it took more than \(limits.duration)") }
        switch action {
        case .send(let request): return try await answer(to: request, flow, &work)
        case .ask(let questions): return .answers(try await answers(to: questions, flow, work))
        case .show(let text, let url):
            if let interaction {
                let isShown: Void? = try await bounded(work) { try await interaction.show(text, url: url) }
                guard isShown != nil else { throw instance.unanswered(["show"]) }
            } else if !url.isEmpty {
                // What is only said needs nobody to hear it; an address is there to be opened.
                throw instance.unanswered(["browser"])
            }
            return .shown
        case .listen(let path):
            work.listener?.stop()
            do throws(TransportError) {
                let listener = try LoopbackListener(path: path)
                work.listener = listener
                return .listening(url: listener.url)
            } catch {
                return .transportError(.permanent, error.description)
            }
        case .browse(let url): return try await browse(url, flow, work)
        case .wait(let pause):
            guard pause <= work.rest else { throw flow.fault("it wants to wait for \(pause), longer than it is given") }
            try await Task.sleep(for: max(pause, .milliseconds(1)))
            return .timer
        case .keep, .token: throw flow.fault("it answered with an action that ends it")
        }
    }

    private func answers(to questions: [FlowQuestion], _ flow: Flow, _ work: Work) async throws -> [String: Secret] {
        guard let interaction else { throw instance.unanswered(questions.map(\.name)) }
        let answers = try await bounded(work) { try await interaction.answers(to: questions) }
        guard let answers else { throw instance.unanswered(questions.map(\.name)) }
        if let missing = questions.first(where: { answers[$0.name] == nil }) {
            throw instance.unanswered([missing.name])
        }
        return answers
    }

    private func browse(_ url: String, _ flow: Flow, _ work: Work) async throws -> FlowEvent {
        guard let listener = work.listener else { throw flow.fault("it browses before it listens") }
        guard let origin = try? HTTPURL(url).origin, work.origins.allow(origin) else {
            throw flow.fault("it sends the user to an address that no setting names")
        }
        guard let interaction else { throw instance.unanswered(["browser"]) }
        let isOpen: Void? = try await bounded(work) { try await interaction.open(url) }
        guard isOpen != nil else { throw instance.unanswered(["browser"]) }
        do { return .redirect(url: try await listener.redirect(until: work.deadline)) } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw instance.unanswered(["browser"])
        }
    }

    /// Nil: it took too long. What doesn't heed its cancellation is left behind.
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

/// Sending.
extension FlowDriver {
    private static let largestAnswer = 1 << 20

    /// With redirects, as far as they lead to where the flow may send; the one that leads elsewhere is the answer.
    private func answer(to flowRequest: FlowRequest, _ flow: Flow, _ work: inout Work) async throws -> FlowEvent {
        var request = flowRequest.request
        guard work.origins.allow(request.origin) else {
            let allowed = work.origins.allowed.map(\.description).joined(separator: ", ")
            throw flow.fault(
                "it wants to send to \(request.origin), which no setting names"
                    + (allowed.isEmpty ? "; none names any" : "; allowed are \(allowed)"))
        }
        var redirects = RedirectChain(flowRequest.followsRedirects ? .follow(limit: 10) : .none)
        let provider = NetworkProvider(session: session)
        while true {
            do throws(NetworkError) {
                let options = RequestOptions(
                    timeout: min(work.rest, .seconds(60)), delivery: .collected(limit: Self.largestAnswer), redirects: .none)
                let response = try await provider.send(request, options)
                work.bytes += response.body.count
                guard work.bytes <= limits.bytes else { break }
                if let next = try redirect(after: response, to: request, &redirects), work.origins.allow(next.origin) {
                    request = next
                    continue
                }
                let answer = FlowResponse(
                    status: response.status, headers: response.headers, body: response.body.collected, url: request.url)
                work.origins.learn(from: answer)
                return .response(answer)
            } catch .cancelled {
                throw CancellationError()
            } catch {
                return .transportError(FlowTransportError(error), error.description)
            }
        }
        throw flow.fault("its answers have more than \(limits.bytes) bytes together")
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
    func unanswered(_ questions: [String]) -> PluginError {
        PluginError(scheme.plugin, .unanswered(scheme: scheme.id, questions: questions))
    }
}
