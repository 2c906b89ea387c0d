/// The effect of a response with a status of 400 or higher.
enum FailureMode {
    /// `--fail`: an error in place of the body.
    case withoutBody
    /// `--fail-with-body`: the body, and then the error.
    case withBody
}

extension Arguments {
    /// The mode of the last of the two flags; nil without either.
    var failureMode: FailureMode? {
        switch flags.last(where: { $0.name == .fail || $0.name == .failWithBody })?.name {
        case .fail: .withoutBody
        case .failWithBody: .withBody
        default: nil
        }
    }
}

/// Reports a response with a status of 400 or higher, with `--fail`.
struct HTTPStatusError: Error, CustomStringConvertible {
    let status: Int
    let reason: String
    /// Whether the response refused the request's credential.
    var refusesCredential = false
    /// The text about the credential, to append to the message.
    var explanation = ""

    var description: String { "the server responded with \(status)\(reason.isEmpty ? "" : " \(reason)")\(explanation)" }
}
