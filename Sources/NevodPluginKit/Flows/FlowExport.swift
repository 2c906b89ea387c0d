internal import NevodPluginABI

/// The contract's functions for schemes with flows.
enum FlowExport {
    static let decode:
        @convention(c) (
            UnsafeMutableRawPointer?, nevod_bytes, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, bytes, token, errors in
            guard let instance, let token, let errors else { return Int32(NEVOD_INTERNAL) }
            guard let decode = box(instance).flows?.decode else { return Int32(NEVOD_UNSUPPORTED) }
            do throws(SchemeError) {
                token.pointee = try decode(bytes)
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    static let free: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { _, token in
        guard let token else { return }
        Unmanaged<AnyTokenBox>.fromOpaque(token).release()
    }

    static let begin:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, kind, flow, errors in
            guard let instance, let flow, let errors else { return Int32(NEVOD_INTERNAL) }
            guard let function = box(instance).flows?.function(kind) else {
                return SchemeError.unsupported("the scheme has no flow of this kind").report(to: errors)
            }
            flow.pointee = Unmanaged.passRetained(FlowRun(function)).toOpaque()
            return Int32(NEVOD_OK)
        }

    static let step:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<nevod_event>?, UnsafePointer<nevod_actions>?,
            UnsafePointer<nevod_errors>?
        ) -> Int32 = { _, flow, event, actions, errors in
            guard let flow, let event, let actions, let errors else { return Int32(NEVOD_INTERNAL) }
            let run = Unmanaged<FlowRun>.fromOpaque(flow).takeUnretainedValue()
            do throws(SchemeError) {
                if let response = event.pointee.response, !SchemeExport.isKnown(response) {
                    throw .unsupported("the host has a kind of response that this plugin doesn't know")
                }
                try run.step(nevod_event(copying: event), actions)
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    static let end: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { instance, flow in
        guard let flow else { return }
        FlowQueue.free(flow, of: instance)
    }

    private static func box(_ instance: UnsafeMutableRawPointer) -> SchemeBox {
        Unmanaged<SchemeBox>.fromOpaque(instance).takeUnretainedValue()
    }
}

/// A scheme's flows and tokens, with the scheme's type erased.
struct SchemeFlows {
    /// Returns a retained ``TokenBox`` for the stored bytes.
    let decode: (nevod_bytes) throws(SchemeError) -> UnsafeMutableRawPointer
    /// The flow for a kind; nil if the scheme has no such flow.
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
                        FlowFunction { flow, _ async throws(SchemeError) in try await held.scheme.login(flow) }
                    case NEVOD_FLOW_REFRESH: scheme.refreshFunction
                    case NEVOD_FLOW_LOGOUT: scheme.logoutFunction
                    case NEVOD_FLOW_CHALLENGE: scheme.challengeFunction
                    default: nil
                    }
                }))
    }
}

/// A ``TokenBox`` with the token's type erased, for the function that frees it.
class AnyTokenBox {}

/// The target of the host's pointer to a decoded token.
final class TokenBox<Token: SchemeToken>: AnyTokenBox {
    private let token: Token

    init(_ token: Token) {
        self.token = token
    }

    static func token(at pointer: UnsafeRawPointer) -> Token {
        Unmanaged<TokenBox>.fromOpaque(pointer).takeUnretainedValue().token
    }
}
