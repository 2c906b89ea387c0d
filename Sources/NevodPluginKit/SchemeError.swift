internal import NevodPluginABI

/// Why a scheme could not do its work. The status decides what the host does next.
public struct SchemeError: Error, Sendable {
    let status: Int32
    let subject: String
    let message: String
    let detail: String

    init(_ status: Int32, subject: String = "", _ message: String, detail: String = "") {
        self.status = status
        self.subject = subject
        self.message = message
        self.detail = detail
    }

    /// The user has to change a setting. `message` completes the sentence that begins with its name: "must not be empty".
    public static func badSetting(_ name: String, _ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_BAD_SETTINGS), subject: name, message)
    }

    /// This scheme can't authorise this request, for example sign a body that can be read only once.
    public static func unsupported(_ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_UNSUPPORTED), message)
    }

    /// The stored token can't be read, or can't be used: the user has to log in again.
    public static func badToken(_ message: String) -> SchemeError {
        SchemeError(Int32(NEVOD_BAD_TOKEN), message)
    }

    /// The server refused for good: the host clears the token.
    public static func denied(_ message: String, detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_DENIED), message, detail: detail)
    }

    /// A passing failure: the host keeps the token, and may try again.
    public static func unavailable(_ message: String, detail: String = "") -> SchemeError {
        SchemeError(Int32(NEVOD_UNAVAILABLE), message, detail: detail)
    }

    /// A fault of the plugin or of a library it uses. `detail` may be sensitive: it is shown only when asked for.
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
