internal import NevodPluginABI

/// A scheme's flows and tokens, without its type.
struct SchemeFlows {
    /// Returns a retained ``TokenBox`` for the stored bytes.
    let decode: (nevod_bytes) throws(SchemeError) -> UnsafeMutableRawPointer
    /// The flow of a kind; nil if the scheme has none.
    let function: (Int32) -> FlowFunction?
}

extension SchemeBox {
    convenience init<Scheme: FlowScheme>(flowsOf scheme: Scheme) {
        let held = Held(scheme)
        self.init(
            needs: scheme.needs, challengeStatuses: scheme.challengeStatuses, challengeTypes: scheme.challengeTypes,
            authorizesProxies: Scheme.authorizesProxies,
            authorize: { token, view, edits, errors in
                do throws(SchemeError) {
                    if let token {
                        try held.scheme.authorize(RequestView(view), TokenBox<Scheme.Token>.token(at: token), Edits(edits))
                    } else {
                        try held.scheme.authorize(RequestView(view), Edits(edits))
                    }
                    return Int32(NEVOD_OK)
                } catch {
                    return error.report(to: errors)
                }
            },
            respond: { token, view, response, actions throws(SchemeError) in
                try held.scheme.respond(
                    to: ResponseView(response), RequestView(view), token.map { TokenBox<Scheme.Token>.token(at: $0) },
                    ResponseEdits(actions))
            },
            flows: SchemeFlows(
                decode: { bytes throws(SchemeError) in
                    let token = try Scheme.Token(decoding: Span(_unsafeBytes: bytes.buffer))
                    return Unmanaged<AnyTokenBox>.passRetained(TokenBox(token)).toOpaque()
                },
                function: { kind in
                    switch Int(kind) {
                    case NEVOD_FLOW_LOGIN:
                        FlowFunction { flow, _ async throws(SchemeError) in try await scheme.login(flow) }
                    case NEVOD_FLOW_REFRESH: scheme.refreshFunction
                    case NEVOD_FLOW_LOGOUT: scheme.logoutFunction
                    case NEVOD_FLOW_CHALLENGE: scheme.challengeFunction
                    default: nil
                    }
                }))
    }
}

/// The object behind the host's pointer to a decoded token, as it is freed.
class AnyTokenBox {}

/// The object behind the host's pointer to a decoded token.
final class TokenBox<Token: SchemeToken>: AnyTokenBox {
    private let token: Token

    init(_ token: Token) {
        self.token = token
    }

    static func token(at pointer: UnsafeRawPointer) -> Token {
        Unmanaged<TokenBox>.fromOpaque(pointer).takeUnretainedValue().token
    }
}
