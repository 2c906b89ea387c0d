internal import NevodPluginABI
internal import NevodSupport

/// A request with a scheme's edits, as a host would send it.
public struct SignedRequest: Sendable, Equatable {
    /// The method, as sent.
    public let method: String
    /// The URL, with the query items that the scheme added.
    public let url: String
    /// Every line in the order of sending, `Host` first, without `Content-Length`.
    public let headers: TestHeaders
    /// The body, after the scheme's replacement.
    public let body: [UInt8]
    /// The parts that the scheme wrote, by name and in order: `header Authorization`, `query key`, `cookie id` or `body`.
    public let edits: [String]
    /// The lines that this call wrote to the log.
    public let logLines: [TestLogLine]

    /// The body as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The request with its edits, to pass on to ``TestedScheme/respond(to:request:token:)``.
    public var request: TestRequest {
        TestRequest(method, url, headers: headers, body: body)
    }

    init(_ original: TestRequest, _ contract: ContractRequest, _ outcome: ContractOutcome, of scheme: TestedScheme)
        throws(TestFailure)
    {
        var edited = EditedRequest(contract, original.body)
        for call in outcome.calls { try edited.apply(call, scheme) }
        edited.finish()
        method = contract.method
        url = "\(contract.scheme)://\(contract.authority)\(edited.target)"
        headers = edited.headers
        body = edited.body
        edits = edited.names
        logLines = outcome.logLines
    }
}

/// Applies edits one by one, and refuses what a host refuses.
private struct EditedRequest {
    var target: String
    var headers: TestHeaders
    var body: [UInt8]
    var names: [String] = []
    private var cookies: [(name: String, value: String)] = []
    private var size = 0
    private var replacesBody = false

    init(_ request: ContractRequest, _ body: [UInt8]) {
        target = request.target
        headers = TestHeaders([ContractPair("Host", request.host)] + request.headers)
        self.body = body
    }

    mutating func apply(_ call: SinkCall, _ scheme: TestedScheme) throws(TestFailure) {
        switch call {
        case .setHeader(let name, let value):
            let (name, value) = try header(name, value)
            headers.set(name, value)
        case .addHeader(let name, let value):
            let (name, value) = try header(name, value)
            headers.add(name, value)
        case .addQuery(let name, let value):
            let text = try checked("query", name, value)
            guard !name.isEmpty else { throw refused("the query item \"\"", "its name is empty") }
            names.append("query \(text.name)")
            let item = PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value)
            target += (target.contains("?") ? (target.hasSuffix("?") ? "" : "&") : "?") + String(decoding: item, as: UTF8.self)
        case .addCookie(let name, let value):
            let text = try checked("cookie", name, value)
            guard !name.isEmpty, !name.contains(UInt8(ascii: "=")), (name + value).allSatisfy(\.isCookieByte) else {
                throw refused("the cookie \"\(text.name)\"", "it contains a byte that is not allowed in cookies (RFC 6265 §5.2)")
            }
            names.append("cookie \(text.name)")
            cookies.append(text)
        case .replaceBody(let bytes):
            try checkReplacement(scheme)
            body = bytes
        case .wrapBody(let length, let wrapping):
            defer { scheme.instance.freeBody(wrapping) }
            try checkReplacement(scheme)
            body = try wrapped(length, wrapping, scheme)
        default: break
        }
    }

    /// Writes the cookies. They replace the request's earlier cookies of the same names.
    mutating func finish() {
        guard !cookies.isEmpty else { return }
        headers.set("Cookie", CookieLine.merging(cookies, into: headers.values(of: "Cookie")))
    }

    private mutating func header(_ name: [UInt8], _ value: [UInt8]) throws(TestFailure) -> (String, String) {
        let text = try checked("header", name, value)
        let what = "the header \"\(text.name)\""
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else {
            throw refused(what, "its name is not a token (RFC 9110 §5.6.2)")
        }
        guard value.allSatisfy(\.isFieldByte) else {
            throw refused(what, "its value contains a control character, such as a line break")
        }
        guard !TransportHeader.has(text.name.utf8) else { throw refused(what, "only the host writes it") }
        names.append("header \(text.name)")
        return text
    }

    private mutating func checked(
        _ kind: String, _ name: [UInt8], _ value: [UInt8]
    ) throws(TestFailure) -> (name: String, value: String) {
        size += name.count + value.count
        let text = String(decoding: name.prefix(64), as: UTF8.self)
        guard name.count <= NEVOD_LIMIT_EDIT_NAME, value.count <= NEVOD_LIMIT_EDIT_VALUE, size <= NEVOD_LIMIT_EDITS else {
            throw refused("the \(kind) \"\(text)\"", "it is too large (NEVOD_LIMIT_EDIT_NAME, _EDIT_VALUE, _EDITS)")
        }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private mutating func checkReplacement(_ scheme: TestedScheme) throws(TestFailure) {
        guard scheme.needs.has(NEVOD_NEED_REPLACE_BODY) else {
            throw refused("the body", "its needs don't name NEVOD_NEED_REPLACE_BODY")
        }
        guard !replacesBody else { throw refused("the body", "it has replaced the body already in this call") }
        replacesBody = true
        names.append("body")
    }

    private func wrapped(_ length: UInt64, _ wrapping: UInt, _ scheme: TestedScheme) throws(TestFailure) -> [UInt8] {
        var written: [UInt8] = []
        // Two pieces and an empty last one, because a scheme must not rely on the sizes of pieces.
        let half = body.count / 2
        for (piece, isLast) in [(Array(body[..<half]), false), (Array(body[half...]), false), ([], true)] {
            let outcome = scheme.instance.bodyPiece(wrapping, piece, isLast: isLast)
            try scheme.note(outcome, of: "body_piece")
            guard outcome.result == NEVOD_OK else { throw TestFailure(outcome, function: "body_piece") }
            for case .write(let bytes) in outcome.calls { written += bytes }
        }
        guard UInt64(written.count) == length else {
            throw TestFailure("it wrote \(written.count) bytes after announcing \(length)", function: "body_piece")
        }
        return written
    }

    private func refused(_ what: String, _ problem: String) -> TestFailure {
        TestFailure("a host refuses \(what): \(problem)", function: "authorize")
    }
}

/// The result of a scheme's `on_response`.
public struct ResponseVerdict: Sendable, Equatable {
    /// The kind of a verdict.
    public enum Kind: Sendable, Equatable {
        /// `NEVOD_VERDICT_NOTHING`.
        case nothing
        /// `NEVOD_VERDICT_STATE_CHANGED`.
        case stateChanged
        /// `NEVOD_VERDICT_RETRY_ONCE`.
        case retryOnce
        /// `NEVOD_VERDICT_CHALLENGE`.
        case challenge
        /// `NEVOD_VERDICT_REFUSE`.
        case refuse
    }

    /// The scheme's request to the host. An unknown verdict counts as nothing.
    public let kind: Kind
    /// The token that it keeps in place of the request's; nil if it keeps none.
    public let keptToken: TestToken?
    /// The report's subject and message: the reason for a refusal.
    public let reason: String

    init(_ outcome: ContractOutcome) throws(TestFailure) {
        kind =
            switch Int(outcome.result) {
            case NEVOD_VERDICT_STATE_CHANGED: .stateChanged
            case NEVOD_VERDICT_RETRY_ONCE: .retryOnce
            case NEVOD_VERDICT_CHALLENGE: .challenge
            case NEVOD_VERDICT_REFUSE: .refuse
            default: .nothing
            }
        var kept: TestToken?
        for action in outcome.actions {
            guard case .keep(let token?) = action else {
                throw TestFailure("it called \(action.function); it may call only set_state and keep", function: "on_response")
            }
            kept = TestToken(token)
        }
        keptToken = kept
        let report = outcome.report.map { [$0.subject, $0.message].map { String(decoding: $0, as: UTF8.self) } } ?? []
        reason = report.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
