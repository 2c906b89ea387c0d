/// The host can't perform an action: there is no browser, nobody to answer, or the host is too old for it. The flow may go on with another
/// one.
///
/// ```swift
/// do {
///     return try await logInWithBrowser(flow)
/// } catch is FlowUnsupportedError {
///     return try await logInWithDeviceCode(flow)
/// }
/// ```
///
/// A flow that ends with this error fails as unsupported, and the user learns what was missing.
public struct FlowUnsupportedError: Error, Sendable, CustomStringConvertible {
    /// The function of ``AuthFlow``, such as `browse`.
    public let action: String
    public var description: String { "the host doesn't support \(action) here" }

    init(_ action: FlowAction) {
        self.action =
            switch action {
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
