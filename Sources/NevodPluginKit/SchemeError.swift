internal import NevodPluginABI

/// The reason why a scheme failed. The status decides what the host does next.
public struct SchemeError: Error, Sendable {
    private let content: Content

    var status: Int32 { content.status }
    var subject: String { content.subject }
    /// The reason. Safe to show.
    public var message: String { content.message }
    var detail: String { content.detail }
    var cause: Cause { content.cause }

    /// Held by reference, because each function that passes an error on would copy a large struct.
    private final class Content: Sendable {
        let status: Int32
        let subject, message, detail: String
        let cause: Cause

        init(_ status: Int32, _ subject: String, _ message: String, _ detail: String, _ cause: Cause) {
            (self.status, self.subject, self.message, self.detail, self.cause) = (status, subject, message, detail, cause)
        }
    }

    /// The cause of an error from a call of ``AuthFlow``.
    enum Cause {
        case other
        case transport(TransportFailure)
        case unsupportedAction, cancelled
    }

    init(_ status: Int32, subject: String = "", _ message: String, detail: String = "", cause: Cause = .other) {
        content = Content(status, subject, message, detail, cause)
    }

    init(_ error: SchemeError, cause: Cause) {
        self.init(error.status, subject: error.subject, error.message, detail: error.detail, cause: cause)
    }

    /// A setting has to be changed. `message` completes a sentence that begins with the setting's name: "must not be empty".
    public static func badSetting(_ name: String, _ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_BAD_SETTINGS), subject: name, message)
    }

    /// This scheme can't authorize this request, for example because its body can be read only once.
    public static func unsupported(_ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_UNSUPPORTED), message)
    }

    /// The stored token can't be read or used: the user has to log in again.
    public static func badToken(_ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_BAD_TOKEN), message)
    }

    /// The server refused permanently: the host clears the token.
    public static func denied(_ message: String, detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_DENIED), message, detail: detail)
    }

    /// A transient failure: the host keeps the token, and may retry.
    public static func unavailable(_ message: String, detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_UNAVAILABLE), message, detail: detail)
    }

    /// The response can't be trusted, for example because the server's signature is wrong: thrown by
    /// ``AuthScheme/respond(to:_:_:)``. `message` says what is wrong with `subject`, such as a header. `detail` may be sensitive
    /// and is shown only on request.
    public static func refused(_ message: String, subject: String = "", detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_DENIED), subject: subject, message, detail: detail)
    }

    /// A fault of the plugin or of a library that it uses. `detail` may be sensitive and is shown only on request.
    public static func `internal`(_ message: String, detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_INTERNAL), message, detail: detail)
    }

    func report(to errors: UnsafePointer<nevod_errors>) -> Int32 {
        withBytes(subject) { subject in
            withBytes(message) { message in
                withBytes(detail) { detail in
                    errors.pointee.report?(errors.pointee.host, subject, message, detail)
                }
            }
        }
        return status
    }
}

@available(*, deprecated, renamed: "SchemeError")
public typealias SchemeFailure = SchemeError

/// The errors that the calls of ``AuthFlow`` throw, in addition to the kit's own.
extension SchemeError {
    /// Whether a flow's request got no response, or a redirect URI can't be opened. If not caught, the error ends the flow as a
    /// transient failure, which keeps a stored token.
    public var isTransport: Bool { transportFailure != nil }

    /// Whether a retry may help, after a transport error; nil for any other error.
    public var transportFailure: TransportFailure? { if case .transport(let failure) = cause { failure } else { nil } }

    /// Whether the host can't perform what the flow asked for: there is no browser, no person, or the host is too old. The flow may
    /// go on with another call. If not caught, the error ends the flow as unsupported, and the user learns what was missing.
    ///
    /// ```swift
    /// do {
    ///     return try await logInWithBrowser(flow)
    /// } catch where error.isUnsupported {
    ///     return try await logInWithDeviceCode(flow)
    /// }
    /// ```
    public var isUnsupported: Bool { if case .unsupportedAction = cause { true } else { false } }

    /// Whether this is a ``denied(_:detail:)``, after which the host clears the token. A flow that should not cost the stored
    /// token, such as a login that only one request needs, throws ``unavailable(_:detail:)`` instead.
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

extension SchemeError: CustomStringConvertible {
    /// The reason, after the setting or header that it is about. The detail is left out, because it may be sensitive.
    public var description: String { subject.isEmpty ? message : "\(subject): \(message)" }
}
