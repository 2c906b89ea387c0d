/// A call of a host's function by a plugin, with its arguments. Bytes that can't be read are empty; see ``ContractOutcome/faults``.
package enum SinkCall: Sendable, Equatable {
    // nevod_errors
    case report(subject: [UInt8], message: [UInt8], detail: [UInt8])
    // nevod_host
    case log(level: Int32, message: [UInt8])
    case getExtension(name: [UInt8])
    case isPublicSuffix(domain: [UInt8])
    // nevod_edits
    case setHeader(name: [UInt8], value: [UInt8])
    case addHeader(name: [UInt8], value: [UInt8])
    case addQuery(name: [UInt8], value: [UInt8])
    case addCookie(name: [UInt8], value: [UInt8])
    case replaceBody([UInt8])
    /// - Parameter wrapping: the address that the plugin passed, for ``ContractInstance/bodyPiece(_:_:isLast:)``.
    case wrapBody(length: UInt64, wrapping: UInt)
    // nevod_output
    case write([UInt8])
    // nevod_actions; nil if the struct can't be read
    case send(ContractFlowRequest?)
    case ask([ContractQuestion])
    case show(text: [UInt8], url: [UInt8])
    case listen(ContractListen?)
    case browse(url: [UInt8])
    case wait(nanoseconds: UInt64)
    case keep(ContractToken?)
    case token(ContractToken?)
    case setState([UInt8])

    /// The function's name in the contract.
    package var function: String {
        switch self {
        case .report: "report"
        case .log: "log"
        case .getExtension: "get_extension"
        case .isPublicSuffix: "is_public"
        case .setHeader: "set_header"
        case .addHeader: "add_header"
        case .addQuery: "add_query"
        case .addCookie: "add_cookie"
        case .replaceBody: "replace_body"
        case .wrapBody: "wrap_body"
        case .write: "write"
        case .send: "send"
        case .ask: "ask"
        case .show: "show"
        case .listen: "listen"
        case .browse: "browse"
        case .wait: "wait"
        case .keep: "keep"
        case .token: "token"
        case .setState: "set_state"
        }
    }

    /// Whether it is a step's action: a function of `nevod_actions` other than `set_state`.
    package var isAction: Bool {
        switch self {
        case .send, .ask, .show, .listen, .browse, .wait, .keep, .token: true
        default: false
        }
    }

    /// Whether the function returns a status.
    package var hasStatus: Bool {
        switch self {
        case .report, .log, .getExtension, .isPublicSuffix: false
        default: true
        }
    }
}

/// A call that a plugin made, and what it returned to the plugin.
package struct SinkRecord: Sendable, Equatable {
    package let call: SinkCall
    /// A status. For `is_public`, 0 or 1. For `get_extension`, 1 if the extension exists and 0 if not.
    package let result: Int32

    package init(_ call: SinkCall, result: Int32) {
        self.call = call
        self.result = result
    }
}

/// The result of a plugin's function, and every call that it made, in order.
package struct ContractOutcome: Sendable, Equatable {
    /// The status that it returned, or the verdict; 0 for a function that returns nothing.
    package let result: Int32
    package let sinks: [SinkRecord]
    /// The arguments that couldn't be read.
    package let faults: [String]

    package var calls: [SinkCall] { sinks.map(\.call) }

    /// The actions of a flow's step. A correct step has at most one for which the host returned `NEVOD_OK`.
    package var actions: [SinkCall] { calls.filter(\.isAction) }

    /// The first report. Later reports don't count.
    package var report: (subject: [UInt8], message: [UInt8], detail: [UInt8])? {
        for case .report(let subject, let message, let detail) in calls { return (subject, message, detail) }
        return nil
    }

    /// The last state that it set.
    package var state: [UInt8]? {
        var state: [UInt8]?
        for case .setState(let bytes) in calls { state = bytes }
        return state
    }
}
