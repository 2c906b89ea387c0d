public import NevodSupport

/// What a flow's function may ask of the host, one thing at a time. Nothing else passes time: a flow that awaits anything that
/// is not here (a sleep, a network call, a callback) ends with the error "suspended outside flow".
///
/// When the host gives a flow up, what the flow awaits throws `CancellationError`, once. Clean up without awaiting, and return.
public final class AuthFlow: Sendable {
    let state = Locked(FlowState())

    /// Sends a request, and waits for the answer.
    ///
    /// - Throws: ``FlowTransportError``; `CancellationError`.
    public func send(_ request: FlowRequest) async throws -> FlowResponse {
        try await perform(.send(request)) { if case .response(let response) = $0 { response } else { nil } }
    }

    /// Asks a person, all questions at once.
    ///
    /// - Parameter questions: at most 16, with distinct names.
    /// - Returns: an answer for each, by its name.
    public func ask(_ questions: [FlowQuestion]) async throws -> [String: Secret] {
        try await perform(.ask(questions)) { if case .answers(let answers) = $0 { answers } else { nil } }
    }

    /// Asks a person one thing.
    public func ask(_ question: FlowQuestion) async throws -> Secret {
        guard let answer = try await ask([question])[question.name] else {
            throw SchemeError.internal("the host left the question \(question.name) without an answer")
        }
        return answer
    }

    /// Shows text, and an address that the user should open by hand; either may be empty.
    public func show(_ text: String, url: String = "") async throws {
        try await perform(.show(text, url: url)) { if case .done = $0 { () } else { nil } }
    }

    /// Opens a redirect URI on loopback (RFC 8252 §7.3).
    ///
    /// - Parameter path: begins with a slash.
    /// - Returns: the redirect URI.
    /// - Throws: ``FlowTransportError`` where no port can be opened; `CancellationError`.
    public func listen(path: String) async throws -> String {
        try await perform(.listen(path)) { if case .url(let url) = $0 { url } else { nil } }
    }

    /// Opens an address in a browser, and waits until it comes back to the redirect URI of ``listen(path:)``.
    ///
    /// - Returns: what arrived there, with its query.
    public func browse(_ url: String) async throws -> String {
        try await perform(.browse(url)) { if case .url(let url) = $0 { url } else { nil } }
    }

    /// The only way in which time passes.
    public func wait(_ duration: Duration) async throws {
        try await perform(.wait(duration)) { if case .done = $0 { () } else { nil } }
    }

    /// Stores a token durably before the flow goes on: what has been issued must not be lost, whatever happens next.
    public func keep(_ token: IssuedToken) async throws {
        try await perform(.keep(token)) { if case .done = $0 { () } else { nil } }
    }

    /// Wall clock, whole seconds since 1970 UTC, corrected for the server's clock. Stands still until the next `await`.
    public var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }

    /// The same in nanoseconds.
    public var unixNanoseconds: Int64 { state.withLock { $0.unixNanoseconds } }

    /// 32 bytes, fresh after each `await` and the same until the next.
    public var random: [UInt8] { state.withLock { $0.random } }

    /// The token that the flow is to renew, to use or to give back, as it was issued; nil in a login.
    public var token: IssuedToken? { state.withLock { $0.token } }

    /// What is kept for this instance and the origin that the flow is about, as ``RequestView/state`` shows it to requests.
    public var keptState: [UInt8] { state.withLock { $0.kept } }

    /// Replaces the state. At most 64 KiB. The host takes it when the flow awaits next, or returns.
    public func setState(_ bytes: [UInt8]) {
        state.withLock {
            $0.kept = bytes
            $0.hasNewState = true
        }
    }

    /// Functions that can't be brought to an end. They are held, so that what they hold stays accounted for.
    private static let abandoned = Locked<[FlowState.Continuation]>([])

    private func perform<Result: Sendable>(
        _ action: FlowAction, _ result: (FlowReply) -> Result?
    ) async throws -> Result {
        // Not a checked one: a flow that goes on asking after its end is left where it waits, on purpose.
        let reply = try await withUnsafeThrowingContinuation { continuation in
            switch state.withLock({ $0.ask(action, continuation) }) {
            case .waits: break
            case .refused(let error): continuation.resume(throwing: error)
            case .abandoned: Self.abandoned.withLock { $0.append(continuation) }
            }
        }
        guard let result = result(reply) else { throw SchemeError.internal("the host answered something else than was asked") }
        return result
    }
}
