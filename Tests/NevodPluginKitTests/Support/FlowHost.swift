import NevodPluginKit
import Testing

/// The host's side of a flow, written only for the contract: calls a table's functions, and records the actions.
final class FlowHost {
    let scheme: nevod_scheme
    private let table: UnsafePointer<nevod_scheme>
    private var instance: UnsafeMutableRawPointer?
    /// The actions that this host can't perform, by their names in the contract.
    var unsupported: Set<String> = []

    init(_ export: PluginExport, settings: [String: String] = [:]) throws {
        table = try #require(export.table.pointee.schemes[0])
        scheme = table.pointee
        let lent = Lent()
        let values = settings.sorted { $0.key < $1.key }.map { nevod_pair(name: lent.bytes($0.key), value: lent.bytes($0.value)) }
        var host = nevod_host()
        host.struct_size = UInt32(MemoryLayout<nevod_host>.size)
        let (status, report) = Report.collect { [scheme, table] in
            scheme.create(table, &host, values, UInt32(values.count), &instance, $0)
        }
        withExtendedLifetime(lent) {}
        guard status == NEVOD_OK else { throw report }
    }

    deinit {
        scheme.destroy(instance)
    }

    /// A plugin's report that accompanies a status.
    struct Report: Error, Equatable {
        var status: Int32 = 0
        var subject = ""
        var message = ""
        var detail = ""

        static func collect(_ body: (UnsafePointer<nevod_errors>) -> Int32) -> (status: Int32, Report) {
            var report = Report()
            let status = withUnsafeMutablePointer(to: &report) { place in
                var errors = nevod_errors(
                    struct_size: UInt32(MemoryLayout<nevod_errors>.size), reserved: 0, host: place,
                    report: { host, subject, message, detail in
                        host!.assumingMemoryBound(to: Report.self).pointee = Report(
                            subject: text(subject), message: text(message), detail: text(detail))
                    })
                return body(&errors)
            }
            report.status = status
            return (status, report)
        }
    }

    /// The fields of an event.
    struct Event {
        var kind: Int
        var time: Int64 = 1_700_000_000_000_000_000
        var random = [UInt8](repeating: 7, count: 32)
        var response: Response?
        var token: Token?
        var answers: [(String, String)] = []
        var transportError = 0
        var message = ""
        var url = ""
        var state = ""
        var account = ""
        var body = ""

        static func start(
            token: Token? = nil, response: Response? = nil, state: String = "", account: String = ""
        ) -> Event {
            Event(kind: NEVOD_EVENT_START, response: response, token: token, state: state, account: account)
        }
        static func response(_ status: Int32, _ body: String = "", headers: [(String, String)] = []) -> Event {
            Event(kind: NEVOD_EVENT_RESPONSE, response: Response(status: status, headers: headers, body: body))
        }
        static func transportError(_ kind: Int, _ message: String) -> Event {
            Event(kind: NEVOD_EVENT_TRANSPORT_ERROR, transportError: kind, message: message)
        }
        static func answers(_ answers: [(String, String)]) -> Event { Event(kind: NEVOD_EVENT_ANSWERS, answers: answers) }
        static let shown = Event(kind: NEVOD_EVENT_SHOWN)
        static func listening(_ url: String) -> Event { Event(kind: NEVOD_EVENT_LISTENING, url: url) }
        static func redirect(_ url: String, body: String = "") -> Event {
            Event(kind: NEVOD_EVENT_REDIRECT, url: url, body: body)
        }
        static let timer = Event(kind: NEVOD_EVENT_TIMER)
        static let kept = Event(kind: NEVOD_EVENT_KEPT)
        static let cancelled = Event(kind: NEVOD_EVENT_CANCELLED)
    }

    struct Response {
        var status: Int32
        var headers: [(String, String)] = []
        var body = ""
        var url = "https://h/answered"
        var isFromProxy = false
    }

    struct Token: Equatable {
        var bytes: String
        var expiry: Int64 = 0
        var account = ""
    }

    enum Action: Equatable {
        case send(String)
        case ask([String])
        case show(String, String)
        case listen(String)
        case browse(String)
        case wait(UInt64)
        case keep(Token)
        case token(Token)

        /// The function's name in the contract.
        var name: String { String("\(self)".prefix { $0 != "(" }) }
    }

    /// The result of one step.
    struct Step {
        var report = Report()
        var actions: [Action] = []
        var state: String?
        /// The actions that were rejected as unsupported, and the actions that the host must reject.
        var refused: [Action] = []
        var unsupported: Set<String> = []
        var status: Int32 { report.status }
        var action: Action? { status == NEVOD_OK && actions.count == 1 ? actions[0] : nil }
    }

    func begin(_ kind: Int) throws -> RunningFlow {
        var flow: UnsafeMutableRawPointer?
        let (status, report) = Report.collect { scheme.flow_begin(instance, Int32(kind), &flow, $0) }
        guard status == NEVOD_OK else { throw report }
        return RunningFlow(self, flow)
    }

    func step(_ flow: UnsafeMutableRawPointer?, _ event: Event) -> Step {
        let lent = Lent()
        var table = event.table(lent)
        var step = Step()
        step.unsupported = unsupported
        let (_, report) = withUnsafeMutablePointer(to: &step) { place in
            var actions = Self.actions(into: place)
            return Report.collect { scheme.flow_step(instance, flow, &table, &actions, $0) }
        }
        withExtendedLifetime(lent) {}
        step.report = report
        return step
    }

    func free(_ flow: UnsafeMutableRawPointer?) { scheme.flow_free(instance, flow) }

    static func actions(into step: UnsafeMutablePointer<Step>) -> nevod_actions {
        nevod_actions(
            struct_size: UInt32(MemoryLayout<nevod_actions>.size), reserved: 0, host: step,
            send: { host, request in
                let request = request!.pointee
                let headers = UnsafeBufferPointer(start: request.headers, count: Int(request.header_count))
                    .map { "\n\(text($0.name)): \(text($0.value))" }.joined()
                return FlowHost.note(
                    host,
                    .send(
                        "\(text(request.method)) \(text(request.url)) \(request.follow_redirects)\(headers)\n\n\(text(request.body))"
                    ))
            },
            ask: { host, questions, count in
                let questions = (0..<Int(count)).map { index in
                    let question = questions![index]!.pointee
                    let choices = UnsafeBufferPointer(start: question.choices, count: Int(question.choice_count)).map(text)
                    return "\(question.kind) \(text(question.name)) \(text(question.prompt)) \(choices.joined(separator: "|"))"
                }
                return FlowHost.note(host, .ask(questions))
            },
            show: { FlowHost.note($0, .show(text($1), text($2))) },
            listen: { host, options in
                let options = options!.pointee
                let isUsual = text(options.host) == "127.0.0.1" && options.port == 0 && options.flags == 0
                let rest = isUsual ? "" : " \(text(options.host)) \(options.port) \(options.flags)"
                return FlowHost.note(host, .listen(text(options.path) + rest))
            },
            browse: { FlowHost.note($0, .browse(text($1))) },
            wait: { FlowHost.note($0, .wait($1)) },
            keep: { FlowHost.note($0, .keep(FlowHost.token($1))) },
            token: { FlowHost.note($0, .token(FlowHost.token($1))) },
            set_state: { host, state in
                host!.assumingMemoryBound(to: Step.self).pointee.state = text(state)
                return Int32(NEVOD_OK)
            })
    }

    private static func note(_ host: UnsafeMutableRawPointer?, _ action: Action) -> Int32 {
        let step = host!.assumingMemoryBound(to: Step.self)
        guard !step.pointee.unsupported.contains(action.name) else {
            step.pointee.refused.append(action)
            return Int32(NEVOD_UNSUPPORTED)
        }
        step.pointee.actions.append(action)
        return Int32(NEVOD_OK)
    }

    private static func token(_ table: UnsafePointer<nevod_token>?) -> Token {
        let table = table!.pointee
        return Token(bytes: text(table.bytes), expiry: table.expires_at_unix_ns, account: text(table.account))
    }
}

/// A flow that has begun, freed with its last reference.
final class RunningFlow {
    private let host: FlowHost
    private let handle: UnsafeMutableRawPointer?

    init(_ host: FlowHost, _ handle: UnsafeMutableRawPointer?) {
        self.host = host
        self.handle = handle
    }

    deinit {
        host.free(handle)
    }

    func step(_ event: FlowHost.Event) -> FlowHost.Step { host.step(handle, event) }
}

extension FlowHost.Event {
    func table(_ lent: Lent) -> nevod_event {
        var table = nevod_event()
        table.struct_size = UInt32(MemoryLayout<nevod_event>.size)
        table.kind = Int32(kind)
        table.unix_time_ns = time
        table.random = lent.bytes(random)
        table.transport_error = Int32(transportError)
        table.message = lent.bytes(message)
        table.url = lent.bytes(url)
        table.state = lent.bytes(state)
        table.account = lent.bytes(account)
        table.body = lent.bytes(body)
        if let response { table.response = lent.values([response.table(lent)]) }
        if let token {
            table.token = lent.values([
                nevod_token(
                    struct_size: UInt32(MemoryLayout<nevod_token>.size), reserved: 0, bytes: lent.bytes(token.bytes),
                    expires_at_unix_ns: token.expiry, account: lent.bytes(token.account))
            ])
        }
        table.answers = lent.values(answers.map { nevod_pair(name: lent.bytes($0.0), value: lent.bytes($0.1)) })
        table.answer_count = UInt32(answers.count)
        return table
    }
}

extension FlowHost.Response {
    func table(_ lent: Lent) -> nevod_response {
        nevod_response(
            struct_size: UInt32(MemoryLayout<nevod_response>.size), status: status, target_kind: isFromProxy ? 1 : 0,
            header_count: UInt32(headers.count),
            headers: lent.values(headers.map { nevod_pair(name: lent.bytes($0.0), value: lent.bytes($0.1)) }),
            body: lent.bytes(body), url: lent.bytes(url), digests: nil, digest_count: 0, flags: 0)
    }
}

/// Memory that is overwritten after the call, which reveals a plugin's late use of borrowed bytes.
final class Lent {
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    deinit {
        for block in blocks {
            block.initializeMemory(as: UInt8.self, repeating: 0xDD)
            block.deallocate()
        }
    }

    func bytes(_ text: String) -> nevod_bytes { bytes(Array(text.utf8)) }
    func bytes(_ bytes: [UInt8]) -> nevod_bytes { nevod_bytes(data: values(bytes), count: UInt64(bytes.count)) }

    func values<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafePointer<Value>? {
        guard !values.isEmpty else { return nil }
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: values.count * MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
        blocks.append(block)
        return UnsafePointer(block.initializeMemory(as: Value.self, from: values).initialized.baseAddress)
    }
}

private func text(_ bytes: nevod_bytes) -> String {
    String(decoding: UnsafeBufferPointer(start: bytes.data, count: Int(bytes.count)), as: UTF8.self)
}
