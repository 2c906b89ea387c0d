/// Logs each attempt as one entry when it has finished, so that the entries of concurrent requests don't interleave.
///
/// Its position in the chain doesn't matter. The request is read from the exchange after the attempt, so it is logged as it was
/// sent, with the edits of later interceptors and of the signer. An attempt that fails in an interceptor before it is sent is
/// not logged; the interceptor's error is thrown to the caller.
///
/// No credential is logged. These values are redacted:
/// - all values that a token or scheme wrote, whatever their names;
/// - values under names that mark them as secret, in headers, the query, and JSON and form bodies;
/// - all other occurrences of these values that are at least 4 bytes long, for example in a response that repeats one.
///
/// Streams are never read.
public struct LoggingInterceptor: OutcomeObserver {
    /// How much of an attempt is logged.
    public enum Detail: Int, Sendable, Comparable {
        /// Method, URL, status and duration.
        case basic
        /// The same, and the headers.
        case detailed
        /// The same, and bodies that are text.
        case verbose

        public static func < (left: Detail, right: Detail) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    private let logger: any NetworkLogger
    private let detail: Detail
    private let bodyLimit: Int
    private let names: RedactedNames

    /// - Parameters:
    ///   - logger: receives responses with a status below 400 as `info`, others as `warning`, and failures as `error`.
    ///   - detail: how much of a request and its response is logged.
    ///   - bodyLimit: how much of each body is logged, in bytes; at most 16 MiB.
    ///   - names: the names whose values are redacted. `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie` and all that
    ///     tokens write are always redacted.
    public init(
        logger: some NetworkLogger, logLevel detail: Detail = .basic, bodyLimit: Int = 4096,
        redacting names: RedactedNames = .default
    ) {
        self.logger = logger
        self.detail = detail
        self.bodyLimit = min(max(0, bodyLimit), 16 << 20)
        self.names = names
    }

    public func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        let level = Self.level(of: outcome)
        guard logger.isEnabled(level) else { return }
        let time = ContinuousClock.now - exchange.began
        // A logger may block, so it doesn't run on the session's thread, which drives all transfers. The request waits, so that
        // its lines are in order.
        await withTaskExecutorPreference(LogThread.shared) { write(level, exchange, outcome, time) }
    }

    private func write(
        _ level: LogLevel, _ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>, _ time: Duration
    ) {
        var redactor = Redactor(names: names, request: exchange.request)
        if case .success(let response) = outcome, detail >= .detailed { redactor.learn(response.headers) }
        var metadata: LogMetadata = ["attempt": String(exchange.attempt)]
        if detail >= .detailed { describe(exchange.request, &redactor, &metadata) }
        if case .success(let response) = outcome, detail >= .detailed { describe(response, &redactor, &metadata) }
        // A secret that was found in a later part may occur in an earlier one.
        let hidden = metadata.pairs.map {
            LogMetadata.Pair(name: redactor.text($0.name), value: redactor.hidingSecrets($0.value))
        }
        logger.write(level, message(exchange.request, outcome, time, redactor), LogMetadata(hidden))
    }

    private static func level(of outcome: Result<HTTPResponse, TransportError>) -> LogLevel {
        switch outcome {
        case .success(let response): response.status < 400 ? .info : .warning
        case .failure: .error
        }
    }

    private func message(
        _ request: HTTPRequest, _ outcome: Result<HTTPResponse, TransportError>, _ time: Duration, _ redactor: Redactor
    ) -> String {
        let tenths = Int64(time.inSeconds * 10_000)
        let request = "\(request.method) \(redactor.url(of: request))"
        return switch outcome {
        case .success(let response): "\(request) returned \(response.status) in \(tenths / 10).\(tenths % 10) ms"
        case .failure(let error): "\(request) failed after \(tenths / 10).\(tenths % 10) ms: \(redactor.text(error.description))"
        }
    }

    private func describe(_ request: HTTPRequest, _ redactor: inout Redactor, _ metadata: inout LogMetadata) {
        for line in request.headers { metadata.append("request.\(line.name)", redactor.value(of: line)) }
        guard detail == .verbose else { return }
        switch request.body {
        case .none: break
        case .bytes(let bytes): append("request.body", bytes, request.headers, &redactor, &metadata)
        case .stream(let stream):
            metadata.append("request.body", stream.length.map { "[a stream of \($0) bytes]" } ?? "[a stream]")
        }
    }

    private func describe(_ response: HTTPResponse, _ redactor: inout Redactor, _ metadata: inout LogMetadata) {
        for line in response.headers { metadata.append("response.\(line.name)", redactor.value(of: line)) }
        guard detail == .verbose else { return }
        switch response.body {
        case .bytes(let bytes): append("response.body", bytes, response.headers, &redactor, &metadata)
        case .stream: metadata.append("response.body", "[a stream]")
        }
    }

    private func append(
        _ name: String, _ bytes: [UInt8], _ headers: HTTPHeaders, _ redactor: inout Redactor, _ metadata: inout LogMetadata
    ) {
        let text = redactor.body(bytes, type: headers["Content-Type"], limit: bodyLimit)
        if let text { metadata.append(name, text) }
    }
}
