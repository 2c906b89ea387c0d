internal import NevodPluginABI
internal import NevodSupport

/// The JSON of a recorded call. Each string in it is data that crossed the contract; names of functions and fields become names of
/// members. Bytes that are not text become `{"hex": "…"}`.
package enum RecordingCoder {
    struct Problem: Error {
        let text: String
    }

    // MARK: Writing

    static func json(_ bytes: [UInt8]) -> JSONValue {
        if let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ !$0.isUnsafeAtTerminal || $0 == "\n" || $0 == "\r" })
        {
            return .string(text)
        }
        return ["hex": .string(Hexadecimal.text(bytes))]
    }

    private static func json(_ pairs: [ContractPair]) -> JSONValue {
        .array(pairs.map { ["name": json($0.name), "value": json($0.value)] })
    }

    private static func json(_ token: ContractToken) -> JSONValue {
        ["bytes": json(token.bytes), "expires": .integer(token.expiresAt), "account": json(token.account)]
    }

    private static func json(_ view: ContractView) -> JSONValue {
        [
            "target_kind": .integer(Int64(view.targetKind)), "method": json(view.method), "scheme": json(view.scheme),
            "authority": json(view.authority), "target": json(view.target), "headers": json(view.headers),
            "body_kind": .integer(Int64(view.bodyKind)), "body_length": .integer(Int64(bitPattern: view.bodyLength)),
            "body": json(view.body), "digests": json(view.digests), "attempt": .integer(Int64(view.attempt)),
            "time": .integer(view.unixTime), "random": json(view.random), "use_count": .integer(Int64(bitPattern: view.useCount)),
            "state": json(view.state), "parameters": json(view.parameters),
        ]
    }

    private static func json(_ response: ContractResponse) -> JSONValue {
        [
            "status": .integer(Int64(response.status)), "target_kind": .integer(Int64(response.targetKind)),
            "headers": json(response.headers), "body": json(response.body), "url": json(response.url),
            "digests": json(response.digests), "flags": .integer(Int64(response.flags)),
        ]
    }

    private static func json(_ event: ContractEvent) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("kind", .integer(Int64(event.kind))), .init("time", .integer(event.unixTime)),
            .init("random", json(event.random)),
        ]
        if let response = event.response { members.append(.init("response", json(response))) }
        if let token = event.token { members.append(.init("token", json(token))) }
        if event.transportError != 0 { members.append(.init("transport_error", .integer(Int64(event.transportError)))) }
        if !event.answers.isEmpty { members.append(.init("answers", json(event.answers))) }
        for (name, bytes) in [
            ("message", event.message), ("url", event.url), ("state", event.state), ("account", event.account),
            ("body", event.body),
        ] where !bytes.isEmpty {
            members.append(.init(name, json(bytes)))
        }
        if !event.parameters.isEmpty { members.append(.init("parameters", json(event.parameters))) }
        return .object(members)
    }

    private static func json(_ token: RecordedCall.Token) -> JSONValue {
        switch token {
        case .none: .null
        case .stored(let token): json(token)
        case .decoded(let number): .integer(Int64(number))
        }
    }

    private static func json(_ function: RecordedCall.Function) -> JSONValue {
        switch function {
        case .create(let scheme, let settings): ["scheme": json(scheme), "settings": json(settings)]
        case .needs, .destroy: [:]
        case .tokenDecode(let token, let bytes): ["token": .integer(Int64(token)), "bytes": json(bytes)]
        case .tokenFree(let token): ["token": .integer(Int64(token))]
        case .authorize(let token, let view): ["token": json(token), "view": json(view)]
        case .onResponse(let token, let view, let response):
            ["token": json(token), "view": json(view), "response": json(response)]
        case .flowBegin(let flow, let kind): ["flow": .integer(Int64(flow)), "kind": .integer(Int64(kind))]
        case .flowStep(let flow, let event): ["flow": .integer(Int64(flow)), "event": json(event)]
        case .flowFree(let flow): ["flow": .integer(Int64(flow))]
        case .bodyPiece(let wrapping, let piece, let isLast):
            ["wrapping": .integer(Int64(wrapping)), "piece": json(piece), "is_last": .bool(isLast)]
        case .bodyFree(let wrapping): ["wrapping": .integer(Int64(wrapping))]
        }
    }

    private static func json(_ call: SinkCall) -> JSONValue {
        switch call {
        case .report(let subject, let message, let detail):
            ["subject": json(subject), "message": json(message), "detail": json(detail)]
        case .log(let level, let message): ["level": .integer(Int64(level)), "message": json(message)]
        case .getExtension(let name): ["name": json(name)]
        case .isPublicSuffix(let domain): ["domain": json(domain)]
        case .setHeader(let name, let value), .addHeader(let name, let value), .addQuery(let name, let value),
            .addCookie(let name, let value):
            ["name": json(name), "value": json(value)]
        case .replaceBody(let body), .write(let body), .setState(let body): ["bytes": json(body)]
        case .wrapBody(let length, let wrapping):
            ["length": .integer(Int64(bitPattern: length)), "wrapping": .integer(Int64(bitPattern: UInt64(wrapping)))]
        case .send(let request):
            request.map {
                [
                    "method": json($0.method), "url": json($0.url), "headers": json($0.headers), "body": json($0.body),
                    "follow_redirects": .integer(Int64($0.followsRedirects)),
                ]
            } ?? .null
        case .ask(let questions):
            [
                "questions": .array(
                    questions.map {
                        [
                            "kind": .integer(Int64($0.kind)), "name": json($0.name), "prompt": json($0.prompt),
                            "choices": .array($0.choices.map(json)),
                        ]
                    })
            ]
        case .show(let text, let url): ["text": json(text), "url": json(url)]
        case .listen(let options):
            options.map {
                [
                    "flags": .integer(Int64($0.flags)), "path": json($0.path), "host": json($0.host),
                    "port": .integer(Int64($0.port)),
                ]
            } ?? .null
        case .browse(let url): ["url": json(url)]
        case .wait(let nanoseconds): ["nanoseconds": .integer(Int64(bitPattern: nanoseconds))]
        case .keep(let token), .token(let token): token.map(json) ?? .null
        }
    }

    /// A call that the plugin made, with its result.
    static func json(_ sink: SinkRecord) -> JSONValue {
        .object([.init(sink.call.function, json(sink.call)), .init("result", .integer(Int64(sink.result)))])
    }

    static func json(_ call: RecordedCall) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("instance", .integer(Int64(call.instance))), .init(call.function.name, json(call.function)),
            .init("result", .integer(Int64(call.outcome.result))), .init("sinks", .array(call.outcome.sinks.map(json))),
        ]
        if !call.outcome.faults.isEmpty { members.append(.init("faults", .array(call.outcome.faults.map { .string($0) }))) }
        if let needs = call.needs {
            members.append(
                .init(
                    "needed",
                    [
                        "flags": .integer(Int64(needs.flags)), "digests": .array(needs.digests.map(json)),
                        "response_digests": .array(needs.responseDigests.map(json)),
                        "challenge_statuses": .array(needs.challengeStatuses.map { .integer(Int64($0)) }),
                        "challenge_types": .array(needs.challengeTypes.map(json)),
                    ]))
        }
        return .object(members)
    }

    // MARK: Reading

    private static func member(_ json: JSONValue, _ name: String) throws(Problem) -> JSONValue {
        guard let value = json[name] else { throw Problem(text: "lacks \"\(name)\"") }
        return value
    }

    static func bytes(_ json: JSONValue) throws(Problem) -> [UInt8] {
        if let text = json.string { return Array(text.utf8) }
        guard let digits = json["hex"]?.string.map({ Array($0.utf8) }), digits.count.isMultiple(of: 2) else {
            throw Problem(text: "has a value that is neither a text nor {\"hex\": …}")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = Hexadecimal.byte(digits[index], digits[index + 1]) else {
                throw Problem(text: "has invalid hexadecimal digits")
            }
            bytes.append(byte)
        }
        return bytes
    }

    private static func bytes(_ json: JSONValue, _ name: String) throws(Problem) -> [UInt8] { try bytes(member(json, name)) }

    private static func number<Number: FixedWidthInteger>(_ json: JSONValue, _ name: String) throws(Problem) -> Number {
        guard let number = try member(json, name).integer.flatMap({ Number(exactly: $0) }) else {
            throw Problem(text: "has a \"\(name)\" that is not a number, or is too large")
        }
        return number
    }

    private static func bits(_ json: JSONValue, _ name: String) throws(Problem) -> UInt64 {
        let number: Int64 = try number(json, name)
        return UInt64(bitPattern: number)
    }

    private static func array(_ json: JSONValue, _ name: String) throws(Problem) -> [JSONValue] {
        guard case .array(let elements) = try member(json, name) else {
            throw Problem(text: "has a \"\(name)\" that is not an array")
        }
        return elements
    }

    private static func list(_ json: JSONValue, _ name: String) throws(Problem) -> [[UInt8]] {
        var list: [[UInt8]] = []
        for element in try array(json, name) { list.append(try bytes(element)) }
        return list
    }

    private static func pairs(_ json: JSONValue, _ name: String) throws(Problem) -> [ContractPair] {
        var pairs: [ContractPair] = []
        for element in try array(json, name) {
            pairs.append(ContractPair(try bytes(element, "name"), try bytes(element, "value")))
        }
        return pairs
    }

    private static func token(_ json: JSONValue) throws(Problem) -> ContractToken {
        ContractToken(try bytes(json, "bytes"), expiresAt: try number(json, "expires"), account: try bytes(json, "account"))
    }

    private static func view(_ json: JSONValue) throws(Problem) -> ContractView {
        var view = ContractView()
        view.targetKind = try number(json, "target_kind")
        view.method = try bytes(json, "method")
        view.scheme = try bytes(json, "scheme")
        view.authority = try bytes(json, "authority")
        view.target = try bytes(json, "target")
        view.headers = try pairs(json, "headers")
        view.bodyKind = try number(json, "body_kind")
        view.bodyLength = try bits(json, "body_length")
        view.body = try bytes(json, "body")
        view.digests = try pairs(json, "digests")
        view.attempt = try number(json, "attempt")
        view.unixTime = try number(json, "time")
        view.random = try bytes(json, "random")
        view.useCount = try bits(json, "use_count")
        view.state = try bytes(json, "state")
        view.parameters = try pairs(json, "parameters")
        return view
    }

    private static func response(_ json: JSONValue) throws(Problem) -> ContractResponse {
        var response = ContractResponse(
            try number(json, "status"), headers: try pairs(json, "headers"), body: try bytes(json, "body"),
            url: try bytes(json, "url"))
        response.targetKind = try number(json, "target_kind")
        response.digests = try pairs(json, "digests")
        response.flags = try number(json, "flags")
        return response
    }

    private static func event(_ json: JSONValue) throws(Problem) -> ContractEvent {
        let kind: Int32 = try number(json, "kind")
        var event = ContractEvent(Int(kind))
        event.unixTime = try number(json, "time")
        event.random = try bytes(json, "random")
        if let response = json["response"] { event.response = try self.response(response) }
        if let token = json["token"] { event.token = try self.token(token) }
        if json["transport_error"] != nil { event.transportError = try number(json, "transport_error") }
        if json["answers"] != nil { event.answers = try pairs(json, "answers") }
        if let message = json["message"] { event.message = try bytes(message) }
        if let url = json["url"] { event.url = try bytes(url) }
        if let state = json["state"] { event.state = try bytes(state) }
        if let account = json["account"] { event.account = try bytes(account) }
        if let body = json["body"] { event.body = try bytes(body) }
        if json["parameters"] != nil { event.parameters = try pairs(json, "parameters") }
        return event
    }

    private static func argument(_ json: JSONValue) throws(Problem) -> RecordedCall.Token {
        switch try member(json, "token") {
        case .null: .none
        case .integer: .decoded(try number(json, "token"))
        case let json: .stored(try token(json))
        }
    }

    private static func function(_ json: JSONValue) throws(Problem) -> RecordedCall.Function {
        guard case .object(let members) = json else { throw Problem(text: "is not an object") }
        for member in members {
            let json = member.value
            switch member.name {
            case "create": return .create(scheme: try bytes(json, "scheme"), settings: try pairs(json, "settings"))
            case "needs": return .needs
            case "destroy": return .destroy
            case "token_decode": return .tokenDecode(token: try number(json, "token"), bytes: try bytes(json, "bytes"))
            case "token_free": return .tokenFree(token: try number(json, "token"))
            case "authorize": return .authorize(try argument(json), try view(self.member(json, "view")))
            case "on_response":
                return .onResponse(
                    try argument(json), try view(self.member(json, "view")), try response(self.member(json, "response")))
            case "flow_begin": return .flowBegin(flow: try number(json, "flow"), kind: try number(json, "kind"))
            case "flow_step": return .flowStep(flow: try number(json, "flow"), try event(self.member(json, "event")))
            case "flow_free": return .flowFree(flow: try number(json, "flow"))
            case "body_piece":
                guard let isLast = json["is_last"]?.bool else { throw Problem(text: "lacks \"is_last\"") }
                return .bodyPiece(wrapping: try number(json, "wrapping"), piece: try bytes(json, "piece"), isLast: isLast)
            case "body_free": return .bodyFree(wrapping: try number(json, "wrapping"))
            default: continue
            }
        }
        throw Problem(text: "names no function of the contract")
    }

    private static func sink(_ json: JSONValue) throws(Problem) -> SinkRecord {
        guard case .object(let members) = json, let name = members.first(where: { $0.name != "result" })?.name else {
            throw Problem(text: "has a call of a sink without a function")
        }
        let value = try member(json, name)
        return SinkRecord(try sinkCall(name, value), result: try number(json, "result"))
    }

    private static func sinkCall(_ name: String, _ json: JSONValue) throws(Problem) -> SinkCall {
        switch name {
        case "report":
            .report(subject: try bytes(json, "subject"), message: try bytes(json, "message"), detail: try bytes(json, "detail"))
        case "log": .log(level: try number(json, "level"), message: try bytes(json, "message"))
        case "get_extension": .getExtension(name: try bytes(json, "name"))
        case "is_public": .isPublicSuffix(domain: try bytes(json, "domain"))
        case "set_header": .setHeader(name: try bytes(json, "name"), value: try bytes(json, "value"))
        case "add_header": .addHeader(name: try bytes(json, "name"), value: try bytes(json, "value"))
        case "add_query": .addQuery(name: try bytes(json, "name"), value: try bytes(json, "value"))
        case "add_cookie": .addCookie(name: try bytes(json, "name"), value: try bytes(json, "value"))
        case "replace_body": .replaceBody(try bytes(json, "bytes"))
        case "wrap_body": .wrapBody(length: try bits(json, "length"), wrapping: UInt(try bits(json, "wrapping")))
        case "write": .write(try bytes(json, "bytes"))
        case "send": .send(try request(json))
        case "ask": .ask(try questions(json))
        case "show": .show(text: try bytes(json, "text"), url: try bytes(json, "url"))
        case "listen": .listen(try listen(json))
        case "browse": .browse(url: try bytes(json, "url"))
        case "wait": .wait(nanoseconds: try bits(json, "nanoseconds"))
        case "keep": .keep(json == .null ? nil : try token(json))
        case "token": .token(json == .null ? nil : try token(json))
        case "set_state": .setState(try bytes(json, "bytes"))
        default: throw Problem(text: "has a call of the unknown sink \"\(name.prefix(32))\"")
        }
    }

    private static func request(_ json: JSONValue) throws(Problem) -> ContractFlowRequest? {
        guard json != .null else { return nil }
        return ContractFlowRequest(
            method: try bytes(json, "method"), url: try bytes(json, "url"), headers: try pairs(json, "headers"),
            body: try bytes(json, "body"), followsRedirects: try number(json, "follow_redirects"), reserved: 0)
    }

    private static func questions(_ json: JSONValue) throws(Problem) -> [ContractQuestion] {
        var questions: [ContractQuestion] = []
        for question in try array(json, "questions") {
            questions.append(
                ContractQuestion(
                    kind: try number(question, "kind"), name: try bytes(question, "name"), prompt: try bytes(question, "prompt"),
                    choices: try list(question, "choices"), reserved: 0))
        }
        return questions
    }

    private static func listen(_ json: JSONValue) throws(Problem) -> ContractListen? {
        guard json != .null else { return nil }
        return ContractListen(
            flags: try number(json, "flags"), path: try bytes(json, "path"), host: try bytes(json, "host"),
            port: try number(json, "port"),
            reserved: 0)
    }

    static func call(_ json: JSONValue) throws(Problem) -> RecordedCall {
        var sinks: [SinkRecord] = []
        for sink in try array(json, "sinks") { sinks.append(try self.sink(sink)) }
        var faults: [String] = []
        if json["faults"] != nil { faults = try list(json, "faults").map { String(decoding: $0, as: UTF8.self) } }
        var call = RecordedCall(
            instance: try number(json, "instance"), function: try function(json),
            outcome: ContractOutcome(result: try number(json, "result"), sinks: sinks, faults: faults))
        if let needed = json["needed"] {
            var needs = ContractNeeds()
            needs.flags = try number(needed, "flags")
            needs.digests = try list(needed, "digests")
            needs.responseDigests = try list(needed, "response_digests")
            for status in try array(needed, "challenge_statuses") {
                guard let number = status.integer.flatMap({ Int32(exactly: $0) }) else {
                    throw Problem(text: "has a status that is not a number")
                }
                needs.challengeStatuses.append(number)
            }
            needs.challengeTypes = try list(needed, "challenge_types")
            call.needs = needs
        }
        return call
    }
}
