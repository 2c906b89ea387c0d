/// Logs each attempt when its outcome is there: one entry, so that those of requests under way together don't mix.
///
/// It may stand anywhere in a chain. The request is logged as it was sent, with what interceptors behind this one and the
/// signer wrote, because it is taken from the exchange afterwards: on the way out, an interceptor sees only what those before
/// it have done. An attempt that fails before it is sent, in an interceptor, is that interceptor's error, and not logged.
///
/// No credential is logged: not what a token or scheme wrote, under whatever name; not the value of a name that says it is
/// secret, in headers, the query, and JSON and form bodies; and no other place where one of these values of 4 bytes or more
/// occurs, such as an answer that repeats it. Streams are never read.
public struct LoggingInterceptor: OutcomeObserver {
    /// How much of an attempt is logged.
    public enum Detail: Int, Sendable, Comparable {
        /// Method, URL, status and time.
        case basic
        /// And the headers.
        case detailed
        /// And bodies that are text.
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
    ///   - logger: gets answers below 400 as `info`, others as `warning`, failures as `error`.
    ///   - detail: how much of a request and its answer is logged.
    ///   - bodyLimit: of each body that is logged, in bytes.
    ///   - names: whose values are hidden, beside those that are credentials whatever this says: `Authorization`,
    ///     `Proxy-Authorization`, `Cookie`, and what tokens write.
    public init(
        logger: some NetworkLogger, logLevel detail: Detail = .basic, bodyLimit: Int = 4096,
        redacting names: RedactedNames = .default
    ) {
        self.logger = logger
        self.detail = detail
        self.bodyLimit = max(0, bodyLimit)
        self.names = names
    }

    public func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        let level = Self.level(of: outcome)
        guard logger.isEnabled(level) else { return }
        let time = ContinuousClock.now - exchange.began
        var redactor = Redactor(names: names, request: exchange.request)
        var metadata: LogMetadata = ["attempt": String(exchange.attempt)]
        if detail >= .detailed { describe(exchange.request, &redactor, &metadata) }
        if case .success(let response) = outcome, detail >= .detailed { describe(response, &redactor, &metadata) }
        // What a later part gave away may stand in an earlier one.
        let hidden = metadata.pairs.map { LogMetadata.Pair(name: redactor.text($0.name), value: redactor.hiding($0.value)) }
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
        case .success(let response): "\(request) answered \(response.status) in \(tenths / 10).\(tenths % 10) ms"
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
