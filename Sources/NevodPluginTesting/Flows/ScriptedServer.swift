internal import NevodSupport

/// The server of a flow under test: a script of expected requests with their replies, or a function.
///
/// ```swift
/// let server = ScriptedServer([
///     .expect("POST", "/login", containing: ["user=ann"], .json(["token": "t1", "expires_in": 60])),
/// ])
/// let login = try scheme.run(.login, with: server, answers: ["user": "ann", "password": "p"])
/// #expect(login.token?.account == "ann")
/// ```
public final class ScriptedServer: Sendable {
    /// An expected request, and its reply.
    public struct Step: Sendable {
        let method: String
        let path: String
        let parts: [String]
        let reply: ServerReply

        /// Expects a request, and sends a response.
        ///
        /// - Parameters:
        ///   - method: in upper case, as the flow sends it.
        ///   - path: the URL's path, without the query.
        ///   - parts: texts that must occur in the URL, a header line or the body.
        ///   - response: the response that the flow gets.
        public static func expect(
            _ method: String, _ path: String, containing parts: [String] = [], _ response: TestResponse
        ) -> Step {
            Step(method: method, path: path, parts: parts, reply: .response(response))
        }

        /// Expects a request, and fails without a response.
        public static func expect(
            _ method: String, _ path: String, containing parts: [String] = [], failing reply: ServerReply
        ) -> Step {
            Step(method: method, path: path, parts: parts, reply: reply)
        }
    }

    private let steps: [Step]?
    private let function: (@Sendable (TestRequest) throws -> ServerReply)?
    private let seen = Locked<[TestRequest]>([])

    /// Makes a server that expects these requests, in this order, and no others.
    public init(_ steps: [Step]) {
        self.steps = steps
        function = nil
    }

    /// Makes a server whose responses come from a function.
    ///
    /// - Parameter respond: may throw to end the test.
    public init(_ respond: @escaping @Sendable (TestRequest) throws -> TestResponse) {
        steps = nil
        function = { .response(try respond($0)) }
    }

    /// Makes a server whose replies come from a function; a reply may be a failure of the transport.
    ///
    /// - Parameter reply: may throw to end the test.
    public init(replying reply: @escaping @Sendable (TestRequest) throws -> ServerReply) {
        steps = nil
        function = reply
    }

    /// A server that expects no requests.
    public static var none: ScriptedServer { ScriptedServer([]) }

    /// The requests that it has received, in order.
    public var requests: [TestRequest] { seen.withLock { $0 } }

    func reply(to request: TestRequest) throws(TestFailure) -> ServerReply {
        let index = seen.withLock { seen in
            seen.append(request)
            return seen.count - 1
        }
        if let function {
            do { return try function(request) } catch {
                throw error as? TestFailure ?? TestFailure("the server failed: \(error)")
            }
        }
        let steps = steps ?? []
        let place = "request \(index + 1) of the flow, \(request.method) \(request.url),"
        guard index < steps.count else {
            throw TestFailure("\(place) is one more than the \(steps.count) that the script expects")
        }
        let step = steps[index]
        guard request.method == step.method, request.path == step.path else {
            throw TestFailure("\(place) should be \(step.method) \(step.path)")
        }
        let whole = "\(request.url)\n\(request.headers)\n\(request.text)"
        for part in step.parts where !whole.contains(part) {
            throw TestFailure(
                "\(place) should contain \"\(part)\"; it has the headers [\(request.headers)] and the body: \(request.text)")
        }
        return step.reply
    }

    /// - Throws: ``TestFailure`` if the script expects more requests.
    func finish() throws(TestFailure) {
        guard let steps, requests.count < steps.count else { return }
        let next = steps[requests.count]
        throw TestFailure(
            "the flow sent \(requests.count) of \(steps.count) expected requests; \(next.method) \(next.path) is missing")
    }
}

/// The result of a flow's request.
public enum ServerReply: Sendable, Equatable {
    /// A response of the server.
    case response(TestResponse)
    /// No response, and a retry may succeed: a timeout, for example.
    case transientError
    /// No response, and a retry is useless: a certificate that can't be verified, for example.
    case permanentError
    /// The response is larger than a host accepts.
    case tooLarge
    /// The user gives up while the request is on its way.
    case cancelled
}
