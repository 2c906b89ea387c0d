internal import NevodPluginABI

/// A `nevod_event`, field by field.
package struct ContractEvent: Sendable, Equatable {
    /// `NEVOD_EVENT_…`.
    package var kind: Int32
    /// Nanoseconds since 1970.
    package var unixTime: Int64 = 0
    package var random: [UInt8] = []
    package var response: ContractResponse?
    package var token: ContractToken?
    package var answers: [ContractPair] = []
    /// `NEVOD_TRANSPORT_…`.
    package var transportError: Int32 = 0
    package var message: [UInt8] = []
    package var url: [UInt8] = []
    package var state: [UInt8] = []
    package var account: [UInt8] = []
    package var body: [UInt8] = []
    package var parameters: [ContractPair] = []
    package var reserved: UInt32 = 0

    package init(_ kind: Int) { self.kind = Int32(clamping: kind) }

    /// The first event of a flow.
    ///
    /// - Parameters:
    ///   - token: the token to renew, use or revoke.
    ///   - response: in a challenge flow, the response with the challenge.
    package static func start(
        token: ContractToken? = nil, response: ContractResponse? = nil, state: [UInt8] = [], account: String = "",
        parameters: [ContractPair] = []
    ) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_START)
        event.token = token
        event.response = response
        event.state = state
        event.account = Array(account.utf8)
        event.parameters = parameters
        return event
    }

    package static func response(_ response: ContractResponse) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_RESPONSE)
        event.response = response
        return event
    }

    /// - Parameter kind: `NEVOD_TRANSPORT_…`.
    package static func transportError(_ kind: Int, _ message: String) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_TRANSPORT_ERROR)
        event.transportError = Int32(clamping: kind)
        event.message = Array(message.utf8)
        return event
    }

    package static func answers(_ answers: [ContractPair]) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_ANSWERS)
        event.answers = answers
        return event
    }

    /// - Parameter url: the redirect URI.
    package static func listening(_ url: String) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_LISTENING)
        event.url = Array(url.utf8)
        return event
    }

    /// - Parameter body: the form that a browser posted.
    package static func redirect(_ url: String, body: [UInt8] = []) -> ContractEvent {
        var event = ContractEvent(NEVOD_EVENT_REDIRECT)
        event.url = Array(url.utf8)
        event.body = body
        return event
    }

    package static var shown: ContractEvent { ContractEvent(NEVOD_EVENT_SHOWN) }
    package static var timer: ContractEvent { ContractEvent(NEVOD_EVENT_TIMER) }
    package static var kept: ContractEvent { ContractEvent(NEVOD_EVENT_KEPT) }
    package static var cancelled: ContractEvent { ContractEvent(NEVOD_EVENT_CANCELLED) }

    func table(_ arena: InputArena) -> UnsafePointer<nevod_event> {
        arena.table(
            nevod_event(
                struct_size: 0, kind: kind, unix_time_ns: unixTime, random: arena.bytes(random),
                response: response?.table(arena), token: token?.table(arena), answers: arena.pairs(answers),
                answer_count: UInt32(clamping: answers.count), transport_error: transportError, message: arena.bytes(message),
                url: arena.bytes(url), state: arena.bytes(state), account: arena.bytes(account), body: arena.bytes(body),
                parameters: arena.pairs(parameters), parameter_count: UInt32(clamping: parameters.count), reserved: reserved),
            .event)
    }
}

/// A flow that `flow_begin` made; freed with this object. Keeps its instance alive. `Sendable` isn't checked: the contract lets
/// each step run on another thread, and the caller makes one step after another.
package final class ContractFlow: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer?
    private let instance: ContractInstance

    init(_ handle: UnsafeMutableRawPointer?, of instance: ContractInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit { instance.free(flow: handle) }

    /// Calls `flow_step`.
    package func step(_ event: ContractEvent) -> ContractOutcome { instance.step(handle, event) }
}

/// A `nevod_flow_request` that a flow sent, field by field.
package struct ContractFlowRequest: Sendable, Equatable {
    package var method: [UInt8]
    package var url: [UInt8]
    package var headers: [ContractPair]
    package var body: [UInt8]
    /// 0: a redirect arrives as a response.
    package var followsRedirects: Int32
    package var reserved: UInt32
}

/// A `nevod_listen` that a flow passed, field by field.
package struct ContractListen: Sendable, Equatable {
    /// `NEVOD_LISTEN_…`.
    package var flags: UInt32
    package var path: [UInt8]
    package var host: [UInt8]
    package var port: UInt32
    package var reserved: UInt32
}

/// A `nevod_question` that a flow asked, field by field.
package struct ContractQuestion: Sendable, Equatable {
    /// `NEVOD_QUESTION_…`.
    package var kind: Int32
    package var name: [UInt8]
    package var prompt: [UInt8]
    package var choices: [[UInt8]]
    package var reserved: UInt32
}
