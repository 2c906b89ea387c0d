internal import NevodPluginABI

/// The purpose of a flow.
public enum TestFlow: Sendable, Equatable {
    /// Obtains a token.
    case login
    /// Renews a token.
    case refresh
    /// Meets a challenge (RFC 9110 §11.6.1).
    case challenge
    /// Revokes a token.
    case logout

    var number: Int {
        switch self {
        case .login: NEVOD_FLOW_LOGIN
        case .refresh: NEVOD_FLOW_REFRESH
        case .challenge: NEVOD_FLOW_CHALLENGE
        case .logout: NEVOD_FLOW_LOGOUT
        }
    }

    var name: String {
        switch self {
        case .login: "login"
        case .refresh: "refresh"
        case .challenge: "challenge"
        case .logout: "logout"
        }
    }
}

/// The person who uses a flow under test: answers questions, and returns from a browser.
public struct TestPerson: Sendable, ExpressibleByDictionaryLiteral {
    /// The answers, by the questions' names.
    public var answers: [String: String]
    /// Goes to an address, and returns the URL at which the browser arrives: the redirect URI with a query. Nil if there is no
    /// browser.
    public var browse: (@Sendable (_ url: String) throws -> String)?

    /// Makes a person with answers, and perhaps with a browser.
    public init(answers: [String: String] = [:], browse: (@Sendable (_ url: String) throws -> String)? = nil) {
        self.answers = answers
        self.browse = browse
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(answers: Dictionary(elements) { _, last in last })
    }
}

/// The result of a flow that succeeded.
public struct FlowResult: Sendable, Equatable {
    /// The token; nil after a logout.
    public let token: TestToken?
    /// The tokens that the flow kept before it finished, in order.
    public let keptTokens: [TestToken]
    /// The texts that it showed, each followed by a space and its address, if it has one.
    public let shown: [String]
    /// A line for each event and each action, in order.
    public let transcript: [String]
    /// The lines that it wrote to the log.
    public let logLines: [TestLogLine]
}

extension TestedScheme {
    /// Runs a flow until it finishes: passes its requests to the server, its questions to the person, and its waits to the clock.
    ///
    /// - Parameters:
    ///   - kind: the flow.
    ///   - server: gets the flow's requests.
    ///   - person: answers its questions.
    ///   - token: the token to renew, use or revoke.
    ///   - response: in a challenge flow, the response with the challenge.
    ///   - account: the account that the user wants.
    ///   - parameters: the parameters of the request that needs the token.
    /// - Throws: ``TestFailure``: the flow's own error, or the error for a request that the script doesn't expect, or for a breach
    ///   of the contract.
    @discardableResult
    public func run(
        _ kind: TestFlow, with server: ScriptedServer = .none, answers person: TestPerson = [:], token: TestToken? = nil,
        response: TestResponse? = nil, account: String = "", parameters: KeyValuePairs<String, String> = [:]
    ) throws(TestFailure) -> FlowResult {
        let (flow, outcome) = instance.begin(kind.number)
        try note(outcome, of: "flow_begin")
        guard let flow else { throw TestFailure(outcome, function: "flow_begin") }
        var run = FlowRunner(self, flow, server, person)
        let start = ContractEvent.start(
            token: token?.contract, response: response?.contract(url: "https://origin.test/"), state: state, account: account,
            parameters: try self.parameters(parameters))
        let result = try run.run(start)
        try server.finish()
        guard kind == .logout || result.token != nil else {
            throw TestFailure("the \(kind.name) flow ended with an empty token", function: "flow_step")
        }
        return result
    }
}

/// Runs one flow, step by step.
private struct FlowRunner {
    private let scheme: TestedScheme
    private let flow: ContractFlow
    private let server: ScriptedServer
    private let person: TestPerson
    private var transcript: [String] = []
    private var logLines: [TestLogLine] = []
    private var kept: [TestToken] = []
    private var shown: [String] = []
    private var redirectURI = ""

    init(_ scheme: TestedScheme, _ flow: ContractFlow, _ server: ScriptedServer, _ person: TestPerson) {
        self.scheme = scheme
        self.flow = flow
        self.server = server
        self.person = person
    }

    mutating func run(_ start: ContractEvent) throws(TestFailure) -> FlowResult {
        var event = start
        transcript.append("start")
        for _ in 0..<Int(NEVOD_LIMIT_FLOW_STEPS + NEVOD_LIMIT_FLOW_WAITS) {
            event.unixTime = scheme.clock.unixNanoseconds
            event.random = scheme.random.bytes()
            let action = try step(event)
            if case .token(let token?) = action {
                transcript.append("token")
                return FlowResult(
                    token: token.bytes.isEmpty ? nil : TestToken(token), keptTokens: kept, shown: shown, transcript: transcript,
                    logLines: logLines)
            }
            event = try perform(action)
        }
        throw TestFailure("the flow didn't end within NEVOD_LIMIT_FLOW_STEPS steps", function: "flow_step")
    }

    /// Passes an event on, and returns the one action.
    private mutating func step(_ event: ContractEvent) throws(TestFailure) -> SinkCall {
        let host = scheme.instance.host
        let hasBrowser = person.browse != nil
        let answers = Set(person.answers.keys)
        host.replaceResults { call, _ in
            switch call {
            case .browse where !hasBrowser: Int32(NEVOD_UNSUPPORTED)
            case .ask(let questions)
            where questions.contains { !answers.contains(String(decoding: $0.name, as: UTF8.self)) }:
                Int32(NEVOD_UNSUPPORTED)
            default: nil
            }
        }
        defer { host.replaceResults(nil) }
        let outcome = flow.step(event)
        logLines += outcome.logLines
        try scheme.note(outcome, of: "flow_step")
        let isCancelled = event.kind == NEVOD_EVENT_CANCELLED
        guard !isCancelled else { throw TestFailure("the flow was cancelled, as the test asked", function: "flow_step") }
        let refused = outcome.sinks.filter { $0.call.isAction && $0.result != NEVOD_OK }.map(\.call)
        guard outcome.result == NEVOD_OK else {
            if let missing = Self.missing(refused) { transcript.append(missing) }
            throw TestFailure(outcome, function: "flow_step")
        }
        let actions = outcome.sinks.filter { $0.call.isAction && $0.result == NEVOD_OK }.map(\.call)
        guard let action = actions.first else {
            throw TestFailure(Self.missing(refused) ?? "the step returned NEVOD_OK without an action", function: "flow_step")
        }
        guard actions.count == 1 else {
            throw TestFailure("\(actions[1].function) is the second action of one step", function: "flow_step")
        }
        if let state = outcome.state { scheme.setState(state) }
        return action
    }

    private static func missing(_ refused: [SinkCall]) -> String? {
        switch refused.last {
        case .ask(let questions):
            "the test has no answer to "
                + questions.map { "\"\(String(decoding: $0.name, as: UTF8.self))\"" }.joined(separator: ", ")
        case .browse: "the test has no browser: pass TestPerson(browse:)"
        case .some(let call): "\(call.function) was refused"
        case nil: nil
        }
    }

    private mutating func perform(_ action: SinkCall) throws(TestFailure) -> ContractEvent {
        switch action {
        case .send(let request?): return try send(TestRequest(request))
        case .ask(let questions):
            let names = questions.map { String(decoding: $0.name, as: UTF8.self) }
            transcript.append("ask \(names.joined(separator: ", "))")
            return .answers(names.sorted().map { ContractPair($0, person.answers[$0] ?? "") })
        case .show(let text, let url):
            let line = [text, url].map { String(decoding: $0, as: UTF8.self) }.filter { !$0.isEmpty }.joined(separator: " ")
            shown.append(line)
            transcript.append("show \(line)")
            return .shown
        case .listen(let options?):
            let host = options.host.isEmpty ? "127.0.0.1" : String(decoding: options.host, as: UTF8.self)
            let port = options.port == 0 ? 49_152 : options.port
            redirectURI = "http://\(host):\(port)\(String(decoding: options.path, as: UTF8.self))"
            transcript.append("listen \(redirectURI)")
            return .listening(redirectURI)
        case .browse(let url):
            let url = String(decoding: url, as: UTF8.self)
            transcript.append("browse \(url)")
            guard !redirectURI.isEmpty else { throw TestFailure("browse needs listen first", function: "flow_step") }
            do { return .redirect(try person.browse?(url) ?? redirectURI) } catch {
                throw error as? TestFailure ?? TestFailure("the browser failed: \(error)")
            }
        case .wait(let nanoseconds):
            transcript.append("wait \(nanoseconds / 1_000_000) ms")
            scheme.clock.advance(nanoseconds: Int64(clamping: nanoseconds))
            return .timer
        case .keep(let token?):
            transcript.append("keep")
            kept.append(TestToken(token))
            return .kept
        default: throw TestFailure("\(action.function) can't be performed", function: "flow_step")
        }
    }

    private mutating func send(_ request: TestRequest) throws(TestFailure) -> ContractEvent {
        transcript.append("send \(request.method) \(request.url)")
        switch try server.reply(to: request) {
        case .response(let response):
            transcript.append("response \(response.status)")
            return .response(response.contract(url: request.url))
        case .transientError: return failure(NEVOD_TRANSPORT_TRANSIENT, "the connection timed out")
        case .permanentError: return failure(NEVOD_TRANSPORT_PERMANENT, "the server's certificate can't be verified")
        case .tooLarge: return failure(NEVOD_TRANSPORT_TOO_LARGE, "the response is too large")
        case .cancelled:
            transcript.append("cancelled")
            return .cancelled
        }
    }

    private mutating func failure(_ kind: Int, _ message: String) -> ContractEvent {
        transcript.append("transport error: \(message)")
        return .transportError(kind, message)
    }
}
