import NevodHost

/// Reports a command's errors to a person.
struct ErrorReport: Sendable {
    /// Nil if the command line could not be parsed.
    let arguments: Arguments?
    let console: Console

    /// Writes an error, unless it has already been reported.
    ///
    /// - Returns: the exit code of the error.
    func write(_ error: any Error) -> Int32 {
        if let failure = error as? ReportedFailure { return failure.code }
        var error = error
        // The interceptor's name doesn't help a user of the command line.
        if case NetworkError.interceptor(_, let cause) = error, cause is StorageError || cause is UnreadableTokenError {
            error = cause
        }
        if let error = error as? DockerError {
            try? output(Redaction.shared.message(error.description))
            guard !error.isExpected else { return error.exitCode }
        }
        // A closed output pipe is not reported: the reader has ended.
        if (error as? OutputError)?.isBrokenPipe != true {
            console.error("\(arguments?.place(of: error) ?? "")\(ErrorText(arguments: arguments).text(of: error))")
        }
        if console.verbosity == .details, let detail = (NetworkError.cause(of: error) as? PluginError)?.revealDetail() {
            console.detail(detail)
        }
        return ExitCode.of(error)
    }
}

/// A failure that has already been reported.
struct ReportedFailure: Error {
    let code: Int32
    /// Whether further requests would fail, too.
    let isFatal: Bool
}

extension NetworkError {
    /// Returns the error that another error wraps, such as the plugin's or the transport's; otherwise the error itself. A request
    /// that could not be authorized is an error of its own, whatever the reason.
    static func cause(of error: any Error) -> any Error {
        guard let network = error as? NetworkError else { return error }
        switch network {
        case .authorization, .bodyEncodingFailed, .parsingError, .unknown: return error
        default: return network.underlying.map { cause(of: $0) } ?? error
        }
    }
}
