internal import NevodPluginABI

/// The errors that the calls of ``AuthFlow`` throw beside those of the kit's own.
extension SchemeError {
    /// Whether a flow's request got no response, or a redirect URI can't be opened. Not caught, it ends the flow as a transient failure,
    /// which keeps a stored token.
    public var isTransport: Bool { transportFailure != nil }

    /// Whether a retry may help, after a transport error; nil for any other error.
    public var transportFailure: TransportFailure? { if case .transport(let failure) = cause { failure } else { nil } }

    /// Whether the host can't perform what the flow asked for: there is no browser, no person, or the host is too old. The flow may go on
    /// with another call. Not caught, it ends the flow as unsupported, and the user learns what was missing.
    ///
    /// ```swift
    /// do {
    ///     return try await logInWithBrowser(flow)
    /// } catch where error.isUnsupported {
    ///     return try await logInWithDeviceCode(flow)
    /// }
    /// ```
    public var isUnsupported: Bool { if case .unsupportedAction = cause { true } else { false } }

    /// Whether it is a ``denied(_:detail:)``, after which the host clears the token. A flow that was started for less, such as a login
    /// that only one request needs, passes it on as ``unavailable(_:detail:)``.
    public var isDenied: Bool { status == Int32(NEVOD_DENIED) }

    /// Whether the host has cancelled the flow, which must return without awaiting anything more.
    public var isCancellation: Bool { if case .cancelled = cause { true } else { false } }
}

extension SchemeError {
    static var cancelled: SchemeError { SchemeError(.unavailable("the flow was cancelled"), cause: .cancelled) }

    static func transport(_ failure: TransportFailure, _ message: String) -> SchemeError {
        SchemeError(.unavailable(message), cause: .transport(failure))
    }

    static func unsupported(_ action: FlowAction) -> SchemeError {
        SchemeError(.unsupported("the host doesn't support \(action.name) here"), cause: .unsupportedAction)
    }
}

extension FlowAction {
    /// The function of ``AuthFlow``.
    fileprivate var name: String {
        switch self {
        case .send: "send"
        case .ask: "ask"
        case .show: "show"
        case .listen: "listen"
        case .browse: "browse"
        case .wait: "wait"
        case .keep: "keep"
        }
    }
}
