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
