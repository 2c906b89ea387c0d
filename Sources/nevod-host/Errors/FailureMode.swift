import NevodHost
import NevodSupport

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
    /// Whether the response refused the request's credential (see ``CarriedCredential``): it has an exit code of its own.
    var refusesCredential = false
    /// The text about the credential, to append to the message.
    var explanation = ""

    var description: String { "the server responded with \(status)\(reason.isEmpty ? "" : " \(reason)")\(explanation)" }
}

/// What a status of 400 or higher does: an error in place of the body, the body and then an error, or the body and a warning.
extension RequestCommand {
    /// Writes the response, unless its status or its range makes it an error. Then only the heads are written.
    func write(
        _ response: HTTPResponse, _ refusal: Refusal?, _ resumption: Resumption, to writer: ResponseWriter, _ log: HopLog
    ) async throws {
        let fails = response.status >= 400 ? arguments.failureMode : nil
        // A refusal's body isn't part of the file. If the file is complete, the server has no further part of it (416).
        let isPartRefused = resumption.offset > 0 && fails != nil
        if fails == .withoutBody || isPartRefused, !resumption.isBeyondEnd(response) {
            let error = await statusError(response, refusal, readsBody: true)
            try await writer.writeHeads(of: log.hops, after: error)
            throw error
        }
        let isComplete: Bool
        do throws(RangeError) { isComplete = try resumption.isComplete(response) } catch {
            let status = await statusError(response, refusal, readsBody: true)
            try await writer.writeHeads(of: log.hops, after: error)
            throw status.explanation.isEmpty ? error : error.explained(by: status)
        }
        guard !isComplete else { return try await writer.writeHeads(of: log.hops) }
        try await writer.write(response, after: log)
        if arguments.has(.timing), let metrics = log.last?.metrics { console.note(Timing(metrics).lines) }
        guard response.status >= 400 else { return }
        let error = await statusError(response, refusal, readsBody: false)
        if fails != nil { throw error }
        if !error.explanation.isEmpty { console.warning(error.description) }
    }

    /// - Parameter readsBody: whether to search the body for the server's reason. Such a body isn't printed.
    private func statusError(_ response: HTTPResponse, _ refusal: Refusal?, readsBody: Bool) async -> HTTPStatusError {
        var error = HTTPStatusError(status: response.status, reason: Redaction.shared.text(response.reason))
        guard var refusal else { return error }
        if readsBody, refusal.isOfCredential { refusal.detail = await RefusalDetail.read(response) }
        error.refusesCredential = refusal.isOfCredential
        error.explanation = refusal.explanation ?? ""
        return error
    }
}
