internal import NevodPluginABI
internal import NevodSupport

/// The input of a flow's step: its start, or the result of its last action.
enum FlowEvent: Sendable {
    /// - Parameters:
    ///   - token: the token to renew, use or revoke.
    ///   - response: in a challenge flow, the response with the challenge.
    ///   - account: the account that the user wants; may be empty.
    ///   - parameters: the parameters of the request that needs the token; nil if there are none.
    case start(token: IssuedToken?, response: FlowResponse?, account: String = "", parameters: ParameterSet? = nil)
    case response(FlowResponse)
    case transportError(FlowTransportError, String)
    case answers([String: Secret])
    case shown
    case listening(url: String)
    /// - Parameter body: the form that the browser posted.
    case redirect(url: String, body: Secret? = nil)
    case timer
    case kept
    /// Sent once; the flow ends, regardless of the action it returns.
    case cancelled

    private var kind: Int {
        switch self {
        case .start: NEVOD_EVENT_START
        case .response: NEVOD_EVENT_RESPONSE
        case .transportError: NEVOD_EVENT_TRANSPORT_ERROR
        case .answers: NEVOD_EVENT_ANSWERS
        case .shown: NEVOD_EVENT_SHOWN
        case .listening: NEVOD_EVENT_LISTENING
        case .redirect: NEVOD_EVENT_REDIRECT
        case .timer: NEVOD_EVENT_TIMER
        case .kept: NEVOD_EVENT_KEPT
        case .cancelled: NEVOD_EVENT_CANCELLED
        }
    }

    /// Returns the contract's table for this event, valid as long as `lent` lives.
    func table(now: UnixTime, random: [UInt8], state: Secret?, _ lent: BorrowedBytes) -> nevod_event {
        var table = nevod_event()
        table.struct_size = UInt32(MemoryLayout<nevod_event>.size)
        table.kind = Int32(kind)
        table.unix_time_ns = now.nanoseconds
        table.random = lent.lend(random)
        switch self {
        case .start(let token, let response, let account, let parameters):
            table.token = token.flatMap { lent.lend($0.table(lent)) }
            table.response = response.flatMap { lent.lend($0.table(lent)) }
            if let state { table.state = lent.lend(state) }
            table.account = lent.lend(account)
            let pairs = parameters?.values.map { (lent.lend($0.name), lent.lend($0.value)) } ?? []
            table.parameters = lent.lend(pairs)
            table.parameter_count = UInt32(pairs.count)
        case .response(let response): table.response = lent.lend(response.table(lent))
        case .transportError(let kind, let message):
            table.transport_error = kind.rawValue
            table.message = lent.lend(message)
        case .answers(let answers):
            let pairs = answers.sorted { $0.key < $1.key }.map { (lent.lend($0.key), lent.lend($0.value)) }
            table.answers = lent.lend(pairs)
            table.answer_count = UInt32(pairs.count)
        case .listening(let url): table.url = lent.lend(url)
        case .redirect(let url, let body):
            table.url = lent.lend(url)
            if let body { table.body = lent.lend(body) }
        case .shown, .timer, .kept, .cancelled: break
        }
        return table
    }
}

/// Why a flow's request got no response.
enum FlowTransportError: Int32, Sendable {
    /// A retry may succeed.
    case transient = 1
    case permanent = 2
    case tooLarge = 3

    init(_ error: NetworkError) {
        self =
            switch error {
            case .timeout, .noConnection: .transient
            case .invalidResponse(let error):
                if case .bodyTooLarge = error.code { .tooLarge } else { .permanent }
            default: .permanent
            }
    }
}

/// A response as a flow or `on_response` sees it.
struct FlowResponse: Sendable {
    let status: Int
    var isFromProxy = false
    let headers: HTTPHeaders
    let body: [UInt8]
    /// Whether the body continues after the bytes that are shown.
    var isCut = false
    /// For `on_response`: the digests of the body that the scheme needs.
    var digests: [(algorithm: DigestAlgorithm, value: [UInt8])] = []
    /// The URL of the response, after redirects.
    let url: String

    func table(_ lent: BorrowedBytes) -> nevod_response {
        var table = nevod_response()
        table.struct_size = UInt32(MemoryLayout<nevod_response>.size)
        table.status = Int32(clamping: status)
        table.target_kind = Int32(isFromProxy ? NEVOD_TARGET_PROXY : NEVOD_TARGET_ORIGIN)
        table.header_count = UInt32(headers.count)
        table.headers = lent.lend(headers)
        table.body = lent.lend(body)
        table.url = lent.lend(url)
        table.digests = lent.lend(digests.map { (nevod_bytes($0.algorithm.name), lent.lend($0.value)) })
        table.digest_count = UInt32(digests.count)
        if isCut { table.flags = UInt32(NEVOD_RESPONSE_CUT) }
        return table
    }
}
