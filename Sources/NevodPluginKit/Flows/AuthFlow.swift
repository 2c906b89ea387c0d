public import NevodSupport
internal import _Concurrency

/// The requests that a flow's function may make to the host, one after another. A flow must await nothing else: if it awaits a
/// sleep, a network call or a callback, it fails with the error "suspended outside flow".
///
/// Each call throws a ``SchemeError``. If the host can't perform a call, the error has ``SchemeError/isUnsupported`` set, and the
/// flow may try another call: a passkey, then a browser, then a device code.
///
/// When the host cancels a flow, the awaited call throws an error with ``SchemeError/isCancellation`` set, once. Clean up without
/// awaiting, and return.
public final class AuthFlow: Sendable {
    let state = Locked(FlowState())

    /// Sends a request, and waits for the response.
    ///
    /// - Throws: an error with ``SchemeError/isTransport`` set if there is no response.
    public func send(_ request: FlowRequest) async throws(SchemeError) -> FlowResponse {
        try await perform(.send(request)) { if case .response(let response) = $0 { response } else { nil } }
    }

    /// Asks the user all questions at once.
    ///
    /// - Parameter questions: at most 16, with distinct names.
    /// - Returns: the answers by their questions' names.
    /// - Throws: an error with ``SchemeError/isUnsupported`` set if there is no user to answer.
    // Compiled only into plugins that call it, because the strings that are a dictionary's keys link Unicode's tables into a
    // plugin.
    @_alwaysEmitIntoClient
    public func ask(_ questions: [FlowQuestion]) async throws(SchemeError) -> [String: Secret] {
        try await answers(to: questions).reduce(into: [:]) { $0[$1.name] = $1.value }
    }

    /// Asks the user all questions at once, as ``ask(_:)-([FlowQuestion])`` does.
    @usableFromInline package func answers(to questions: [FlowQuestion]) async throws(SchemeError) -> [FlowAnswer] {
        try await perform(.ask(questions)) { if case .answers(let answers) = $0 { answers } else { nil } }
    }

    /// Asks the user one question.
    public func ask(_ question: FlowQuestion) async throws(SchemeError) -> Secret {
        guard let answer = try await answers(to: [question]).value(of: question.name) else {
            throw .internal("the host gave no answer to the question \(question.name)")
        }
        return answer
    }

    /// Shows text, and a URL for the user to open by hand. Either may be empty.
    ///
    /// - Throws: an error with ``SchemeError/isUnsupported`` set if there is no user to open the URL.
    public func show(_ text: String, url: String = "") async throws(SchemeError) {
        try await perform(.show(text, url: url)) { if case .done = $0 { () } else { nil } }
    }

    /// Opens a redirect URI on loopback (RFC 8252 §7.3).
    ///
    /// - Parameters:
    ///   - path: begins with a slash; at most 256 bytes.
    ///   - host: `127.0.0.1` or `[::1]`; or `localhost`, if the server accepts nothing else.
    ///   - port: 0 for any free port.
    ///   - formPost: whether the browser posts a form (OAuth 2.0 Form Post Response Mode). If so, use ``browseToRedirect(_:)``.
    /// - Returns: the redirect URI.
    /// - Throws: an error with ``SchemeError/isTransport`` set if the port can't be opened, for example because another program
    ///   uses it; an error with ``SchemeError/isUnsupported`` set if the host opens no ports.
    public func listen(
        path: String, host: String = "127.0.0.1", port: UInt16 = 0, formPost: Bool = false
    ) async throws(SchemeError) -> String {
        let options = FlowListen(path: path, host: host, port: port, isFormPost: formPost)
        return try await perform(.listen(options)) { if case .url(let url) = $0 { url } else { nil } }
    }

    /// Opens a URL in a browser, and waits until the browser is redirected to the URI of ``listen(path:host:port:formPost:)``.
    /// Called again with the same URL, it opens nothing, and waits for the next redirect.
    ///
    /// - Returns: the URL that the browser requested there, with its query.
    /// - Throws: an error with ``SchemeError/isUnsupported`` set if there is no browser.
    public func browse(_ url: String) async throws(SchemeError) -> String {
        try await browseToRedirect(url).url
    }

    /// Opens a URL in a browser, and waits until the browser is redirected to the URI of ``listen(path:host:port:formPost:)``.
    ///
    /// - Returns: the browser's request there, with the form that it posted.
    /// - Throws: as ``browse(_:)``.
    public func browseToRedirect(_ url: String) async throws(SchemeError) -> FlowRedirect {
        try await perform(.browse(url)) { if case .redirect(let redirect) = $0 { redirect } else { nil } }
    }

    /// Waits for a duration. A flow has no other way to wait. A flow may wait at most 2000 times, and take an hour in all.
    public func wait(_ duration: Duration) async throws(SchemeError) {
        try await perform(.wait(duration)) { if case .done = $0 { () } else { nil } }
    }

    /// Stores a token durably before the flow continues, so that an issued token isn't lost if the flow fails later.
    public func keep(_ token: IssuedToken) async throws(SchemeError) {
        try await perform(.keep(token)) { if case .done = $0 { () } else { nil } }
    }

    /// The time in whole seconds since 1970 UTC, corrected for the server's clock. Changes only at an `await`.
    public var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }

    /// The time in nanoseconds since 1970 UTC.
    public var unixNanoseconds: Int64 { state.withLock { $0.unixNanoseconds } }

    /// 32 random bytes, fresh after each `await`.
    public var random: [UInt8] { state.withLock { $0.random } }

    /// The token that the flow renews, uses or revokes, as it was issued; nil in a login.
    public var token: IssuedToken? { state.withLock { $0.token } }

    /// The value of a parameter of the request that needs the token (``AuthScheme/parameters``), or its default; nil if there is
    /// neither. For a repeatable parameter, the last value.
    public func parameter(_ name: String) -> String? { parameters(name).last }

    /// The values of a repeatable parameter, in order.
    public func parameters(_ name: String) -> [String] {
        state.withLock { $0.parameters.filter { $0.name == name }.map { $0.value } }
    }

    /// The account that the user wants, from the command line's `--account` or from the program; otherwise the account of
    /// ``token``. May be empty.
    public var account: String { state.withLock { $0.account } }

    /// The state stored for this instance and the flow's origin, which requests get as ``RequestView/state``.
    public var keptState: [UInt8] { state.withLock { $0.kept } }

    /// Replaces the state, at most 64 KiB. The host reads it when the flow next awaits, or returns.
    public func setState(_ bytes: [UInt8]) {
        state.withLock {
            $0.kept = bytes
            $0.hasNewState = true
        }
    }

    /// The continuations of functions that ignore cancellation. They are never resumed; a reference keeps them from counting as
    /// leaks.
    private static let abandoned = Locked<[FlowState.Continuation]>([])

    private func perform<Value: Sendable>(
        _ action: FlowAction, _ value: (FlowReply) -> Value?
    ) async throws(SchemeError) -> Value {
        // Not a checked continuation, because a flow that keeps asking after its cancellation is left suspended on purpose.
        let reply = await withUnsafeContinuation { (continuation: FlowState.Continuation) in
            switch state.withLock({ $0.ask(action, continuation) }) {
            case .waits: break
            case .refused(let error): continuation.resume(returning: .failure(error))
            case .abandoned: Self.abandoned.withLock { $0.append(continuation) }
            }
        }
        guard let value = value(try reply.get()) else {
            throw .internal("the host replied to an action that the flow didn't request")
        }
        return value
    }
}
