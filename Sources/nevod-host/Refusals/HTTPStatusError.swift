/// A response with a status of 400 or higher, with `--fail`.
struct HTTPStatusError: Error, CustomStringConvertible {
    let status: Int
    let reason: String
    /// Whether the response refused the request's credential.
    var refusesCredential = false
    /// The text about the credential, to be appended.
    var explanation = ""

    var description: String { "the server responded with \(status)\(reason.isEmpty ? "" : " \(reason)")\(explanation)" }
}
