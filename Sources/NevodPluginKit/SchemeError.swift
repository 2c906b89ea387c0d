internal import NevodPluginABI

/// The reason why a scheme failed. The status decides what the host does next.
public struct SchemeError: Error, Sendable {
    let status: Int32
    let subject: String
    /// The reason. Safe to show.
    public let message: String
    let detail: String
    let cause: Cause

    /// The event that made a call of ``AuthFlow`` fail.
    enum Cause {
        case other
        case transport(TransportFailure)
        case unsupportedAction, cancelled
    }

    init(_ status: Int32, subject: String = "", _ message: String, detail: String = "", cause: Cause = .other) {
        self.status = status
        self.subject = subject
        self.message = message
        self.detail = detail
        self.cause = cause
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
    /// ``AuthScheme/respond(to:_:_:)``. `message` says what is wrong with `subject`, such as a header. `detail` may be sensitive and is
    /// shown only on request.
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
