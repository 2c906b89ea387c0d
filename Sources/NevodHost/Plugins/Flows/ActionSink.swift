internal import NevodPluginABI
internal import NevodSupport

/// Takes the action of one step of a flow, or the state and token that `on_response` keeps. Lives on the stack of that call.
struct ActionSink {
    private static let largestState = Int(NEVOD_LIMIT_STATE)
    private static let mostQuestions = UInt32(NEVOD_LIMIT_QUESTIONS)
    private static let mostHeaders = UInt32(NEVOD_LIMIT_FLOW_HEADERS)
    private static let largestBody = Int(NEVOD_LIMIT_FLOW_BODY)
    private static let longestMethod = 64
    private static let longestChoice = 256
    /// After this many unsupported actions in one step, the flow is assumed to try forever.
    private static let mostTries = 100

    private(set) var action: FlowAction?
    private(set) var state: Secret?
    /// The reason why an action of the plugin is invalid.
    private(set) var problem: String?
    /// The actions that the host can't perform; the step may have continued with another one.
    private(set) var unsupported: [UnsupportedAction] = []
    private let provenance: Provenance
    private let supports: @Sendable (UserAction) -> Bool

    /// - Parameter supports: whether an action that needs a person can be performed.
    init(provenance: Provenance, supports: @escaping @Sendable (UserAction) -> Bool = { _ in true }) {
        self.provenance = provenance
        self.supports = supports
    }

    /// The contract's table for this sink. Each call stores its generation in the table's `host`.
    static var table: nevod_actions {
        nevod_actions(
            struct_size: UInt32(MemoryLayout<nevod_actions>.size), reserved: 0, host: nil,
            send: { host, request in
                Self.record(host, "send") { sink throws(Problem) in try sink.send(request) }
            },
            ask: { host, questions, count in
                Self.record(host, "ask") { sink throws(Problem) in try sink.ask(questions, count) }
            },
            show: { host, text, url in
                Self.record(host, "show") { sink throws(Problem) in
                    .show(text: text.message, url: try sink.text(url, "its url"))
                }
            },
            listen: { host, options in
                Self.record(host, "listen") { sink throws(Problem) in try sink.listen(options) }
            },
            browse: { host, url in
                Self.record(host, "browse") { sink throws(Problem) in .browse(url: try sink.text(url, "its url")) }
            },
            wait: { host, nanoseconds in
                Self.record(host, "wait") { _ throws(Problem) in .wait(.nanoseconds(Int64(clamping: nanoseconds))) }
            },
            keep: { host, token in
                Self.record(host, "keep") { sink throws(Problem) in
                    let token = try sink.token(token)
                    guard !token.bytes.isEmpty else { throw Problem("the token is empty") }
                    return .keep(token)
                }
            },
            token: { host, token in
                Self.record(host, "token") { sink throws(Problem) in .token(try sink.token(token)) }
            },
            set_state: { host, state in
                guard let sink = PluginCall.actions(host, "set_state") else { return Int32(NEVOD_UNSUPPORTED) }
                return sink.pointee.setState(state)
            })
    }

    private struct Problem: Error {
        let text: String
        /// Set if the action is valid, but this host can't perform it.
        var unsupported: UnsupportedAction?

        init(_ text: String) { self.text = text }

        init(_ unsupported: UnsupportedAction) {
            text = "it can't be performed"
            self.unsupported = unsupported
        }
    }

    private static func record(
        _ host: UnsafeMutableRawPointer?, _ function: StaticString, _ make: (ActionSink) throws(Problem) -> FlowAction
    ) -> Int32 {
        guard let sink = PluginCall.actions(host, function) else { return Int32(NEVOD_UNSUPPORTED) }
        guard sink.pointee.action == nil, sink.pointee.problem == nil else {
            if sink.pointee.problem == nil { sink.pointee.problem = "\(function) is the second action of one step" }
            return Int32(NEVOD_INTERNAL)
        }
        do throws(Problem) {
            let action = try make(sink.pointee)
            if let wanted = action.userAction, !sink.pointee.supports(wanted) { throw Problem(UnsupportedAction(wanted)) }
            sink.pointee.action = action
            return Int32(NEVOD_OK)
        } catch {
            guard let unsupported = error.unsupported, sink.pointee.unsupported.count < mostTries else {
                sink.pointee.problem =
                    error.unsupported == nil
                    ? "its \(function) is invalid: \(error.text)" : "it tried \(mostTries) unsupported actions in one step"
                return Int32(NEVOD_INTERNAL)
            }
            sink.pointee.unsupported.append(unsupported)
            return Int32(NEVOD_UNSUPPORTED)
        }
    }

    private mutating func setState(_ bytes: nevod_bytes) -> Int32 {
        guard bytes.count <= Self.largestState, bytes.count == 0 || bytes.data != nil else {
            if problem == nil { problem = "its state has \(bytes.count) bytes, more than \(Self.largestState)" }
            return Int32(NEVOD_INTERNAL)
        }
        state = Secret(copying: UnsafeRawBufferPointer(bytes.buffer))
        return Int32(NEVOD_OK)
    }

    // MARK: Reading

    private func copy<Table: ContractTable>(
        _ pointer: UnsafePointer<Table>?, _ minimum: UInt32, _ name: String
    ) throws(Problem) -> Table {
        guard let pointer else { throw Problem("\(name) is NULL") }
        guard let table = Table(copying: pointer, minimum: minimum) else {
            throw Problem("\(name) has struct_size \(Table.size(of: pointer)), but at least \(minimum) is required")
        }
        return table
    }

    private func text(_ bytes: nevod_bytes, _ what: String, upTo limit: Int = Int(NEVOD_LIMIT_URL)) throws(Problem) -> String {
        guard bytes.count <= limit else { throw Problem("\(what) has \(bytes.count) bytes, more than \(limit)") }
        guard bytes.count == 0 || bytes.data != nil else { throw Problem("\(what) has a length but no data") }
        guard let text = String(validating: bytes.buffer, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.isUnsafeAtTerminal || $0 == "\t" })
        else { throw Problem("\(what) is not UTF-8, or contains a control character") }
        return text
    }

    private func listen(_ pointer: UnsafePointer<nevod_listen>?) throws(Problem) -> FlowAction {
        let options = try copy(pointer, NEVOD_LISTEN_MINIMUM, "nevod_listen")
        guard options.reserved == 0 else { throw Problem("nevod_listen.reserved is not zero") }
        if let bits = ContractFlags.unsupported(options.flags, known: [NEVOD_LISTEN_FORM_POST]) {
            throw Problem(UnsupportedAction("a redirect URI with \(bits) of nevod_listen.flags"))
        }
        let name = try text(options.host, "its host", upTo: 64)
        guard let host = RedirectURI.Host(rawValue: name.isEmpty ? RedirectURI.Host.ipv4.rawValue : name) else {
            let known = RedirectURI.Host.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem("its host \"\(name)\" is not one of \(known)")
        }
        guard let port = UInt16(exactly: options.port) else { throw Problem("its port \(options.port) is larger than 65535") }
        return .listen(
            RedirectURI(
                path: try path(options.path), host: host, port: port,
                isFormPost: options.flags & UInt32(NEVOD_LISTEN_FORM_POST) != 0))
    }

    private func path(_ bytes: nevod_bytes) throws(Problem) -> String {
        let path = try text(bytes, "its path", upTo: Int(NEVOD_LIMIT_PATH))
        let isPlain = path.utf8.allSatisfy { $0.isVisible && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.hasPrefix("/"), isPlain else { throw Problem("\"\(path)\" is not a path") }
        return path
    }

    private func token(_ pointer: UnsafePointer<nevod_token>?) throws(Problem) -> IssuedToken {
        let token = try copy(pointer, NEVOD_TOKEN_MINIMUM, "nevod_token")
        guard token.reserved == 0 else { throw Problem("nevod_token.reserved is not zero") }
        guard token.bytes.count <= IssuedToken.largest else {
            throw Problem("the token has \(token.bytes.count) bytes, more than \(IssuedToken.largest)")
        }
        guard token.bytes.count == 0 || token.bytes.data != nil else { throw Problem("the token has a length but no data") }
        return IssuedToken(
            bytes: Secret(copying: UnsafeRawBufferPointer(token.bytes.buffer)),
            expiresAt: token.expires_at_unix_ns > 0 ? UnixTime(nanoseconds: token.expires_at_unix_ns) : nil,
            account: try text(token.account, "the account", upTo: Int(NEVOD_LIMIT_ACCOUNT)))
    }

    private func send(_ pointer: UnsafePointer<nevod_flow_request>?) throws(Problem) -> FlowAction {
        let flow = try copy(pointer, NEVOD_FLOW_REQUEST_MINIMUM, "nevod_flow_request")
        guard flow.reserved == 0 else { throw Problem("nevod_flow_request.reserved is not zero") }
        guard flow.body.count <= Self.largestBody else {
            throw Problem("the body has \(flow.body.count) bytes, more than \(Self.largestBody)")
        }
        guard flow.header_count <= Self.mostHeaders, flow.header_count == 0 || flow.headers != nil else {
            throw Problem("it has \(flow.header_count) header lines, more than \(Self.mostHeaders), or their table is NULL")
        }
        guard flow.body.count == 0 || flow.body.data != nil else { throw Problem("the body has a length but no data") }
        let body = Array(flow.body.buffer)
        do throws(InvalidRequestError) {
            let url = try url(of: flow)
            var request = try HTTPRequest(
                HTTPMethod(validating: try methodText(flow)), url, body: body.isEmpty ? .none : .bytes(body))
            request.provenance = provenance
            for index in 0..<Int(flow.header_count) {
                guard let pair = flow.headers?[index] else { break }
                guard let name = String(validating: pair.name.buffer, as: UTF8.self),
                    let value = String(validating: pair.value.buffer, as: UTF8.self)
                else { throw InvalidRequestError(.header("\(index)"), "it is not UTF-8") }
                guard !TransportHeader.has(name.utf8) else {
                    throw InvalidRequestError(.header(name), "only the host writes it")
                }
                try request.addHeader(name, value)
            }
            return .send(FlowRequest(request: request, followsRedirects: flow.follow_redirects != 0))
        } catch {
            // Leaves out the URL, since its query may contain secrets.
            throw Problem(error.part.isURL ? "its url: \(error.problem)" : error.description)
        }
    }

    private func url(of flow: nevod_flow_request) throws(InvalidRequestError) -> String {
        do throws(Problem) { return try text(flow.url, "its url") } catch { throw InvalidRequestError(.url(""), error.text) }
    }

    private func methodText(_ flow: nevod_flow_request) throws(InvalidRequestError) -> String {
        do throws(Problem) { return try text(flow.method, "its method", upTo: Self.longestMethod) } catch {
            throw InvalidRequestError(.method(""), error.text)
        }
    }

    private func ask(_ table: UnsafePointer<UnsafePointer<nevod_question>?>?, _ count: UInt32) throws(Problem) -> FlowAction {
        guard count > 0, count <= Self.mostQuestions, let table else {
            throw Problem("it has \(count) questions instead of 1 to \(Self.mostQuestions), or their table is NULL")
        }
        var questions: [FlowQuestion] = []
        var names: [String] = []
        var unknown: [String] = []
        for index in 0..<Int(count) {
            let question = try copy(table[index], NEVOD_QUESTION_MINIMUM, "nevod_question \(index)")
            guard question.reserved == 0 else { throw Problem("nevod_question.reserved is not zero") }
            let name = try text(question.name, "a question's name", upTo: Int(NEVOD_LIMIT_NAME))
            guard !name.isEmpty, !names.contains(name) else { throw Problem("a question's name is empty, or occurs twice") }
            names.append(name)
            if let kind = try kind(of: question) {
                questions.append(FlowQuestion(name: name, kind: kind, prompt: question.prompt.message))
            } else {
                unknown.append("\(name) (a question of the unknown kind \(question.kind))")
            }
        }
        guard unknown.isEmpty else { throw Problem(UnsupportedAction(questions.map(\.name) + unknown)) }
        return .ask(questions)
    }

    /// Returns nil for a kind that this host doesn't know.
    private func kind(of question: nevod_question) throws(Problem) -> FlowQuestion.Kind? {
        switch Int(question.kind) {
        case NEVOD_QUESTION_TEXT: return .text
        case NEVOD_QUESTION_SECRET: return .secret
        case NEVOD_QUESTION_CODE: return .code
        case NEVOD_QUESTION_CHOICE:
            guard question.choice_count > 0, question.choice_count <= UInt32(NEVOD_LIMIT_CHOICES), let table = question.choices
            else {
                throw Problem(
                    "a question has \(question.choice_count) choices instead of 1 to \(NEVOD_LIMIT_CHOICES), or their table is NULL"
                )
            }
            var choices: [String] = []
            for index in 0..<Int(question.choice_count) {
                choices.append(try text(table[index], "a choice", upTo: Self.longestChoice))
            }
            return .choice(choices)
        default: return nil
        }
    }
}

extension InvalidRequestError.Part {
    fileprivate var isURL: Bool {
        if case .url = self { true } else { false }
    }
}
