internal import NevodPluginABI

/// The contract's functions that only a scheme with flows has.
enum FlowExport {
    static let decode:
        @convention(c) (
            UnsafeMutableRawPointer?, nevod_bytes, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, bytes, token, errors in
            guard let instance, let token, let errors else { return Int32(NEVOD_INTERNAL) }
            do throws(SchemeError) {
                token.pointee = Unmanaged.passRetained(try box(instance).decode(bytes)).toOpaque()
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    static let free: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { _, token in
        guard let token else { return }
        Unmanaged<AnyObject>.fromOpaque(token).release()
    }

    static let begin:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, kind, flow, errors in
            guard let instance, let flow, let errors else { return Int32(NEVOD_INTERNAL) }
            guard let function = box(instance).flow(kind) else {
                return SchemeError.unsupported("there is no flow of this kind").report(to: errors)
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
                try run.step(nevod_event(copying: event), actions)
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    static let end: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { _, flow in
        guard let flow else { return }
        Unmanaged<FlowRun>.fromOpaque(flow).release()
    }

    private static func box(_ instance: UnsafeMutableRawPointer) -> AnyFlowSchemeBox {
        Unmanaged<AnyFlowSchemeBox>.fromOpaque(instance).takeUnretainedValue()
    }
}

final class FlowSchemeFactory<Scheme: FlowScheme>: AnySchemeFactory {
    override func make(
        _ values: UnsafeBufferPointer<nevod_pair>, _ host: UnsafePointer<nevod_host>?
    ) throws(SchemeError) -> AnySchemeBox {
        FlowSchemeBox(try SettingsReader.make(Scheme.self, from: values, of: host))
    }
}

class AnyFlowSchemeBox: AnySchemeBox {
    func decode(_ bytes: nevod_bytes) throws(SchemeError) -> AnyObject {
        preconditionFailure("abstract")
    }

    /// The flow of a kind; nil if the scheme has none.
    func flow(_ kind: Int32) -> FlowRun.Function? {
        preconditionFailure("abstract")
    }
}

final class FlowSchemeBox<Scheme: FlowScheme>: AnyFlowSchemeBox {
    private let scheme: Scheme

    init(_ scheme: Scheme) {
        self.scheme = scheme
        super.init(needs: scheme.needs, challengeStatuses: scheme.challengeStatuses)
    }

    override func decode(_ bytes: nevod_bytes) throws(SchemeError) -> AnyObject {
        TokenBox(try Self.token(of: bytes.buffer))
    }

    override func flow(_ kind: Int32) -> FlowRun.Function? {
        switch Int(kind) {
        case NEVOD_FLOW_LOGIN: return { [scheme] flow, _ in try await scheme.login(flow) }
        case NEVOD_FLOW_REFRESH: if let scheme = scheme as? any RefreshFlow { return refreshing(scheme) }
        case NEVOD_FLOW_LOGOUT: if let scheme = scheme as? any LogoutFlow { return loggingOut(scheme) }
        case NEVOD_FLOW_CHALLENGE: if let scheme = scheme as? any ChallengeFlow { return challenged(scheme) }
        default: break
        }
        return nil
    }

    private func refreshing<Flowing: RefreshFlow>(_ scheme: Flowing) -> FlowRun.Function {
        { flow, start in try await scheme.refresh(flow, try start.token(of: Flowing.self)) }
    }

    private func loggingOut<Flowing: LogoutFlow>(_ scheme: Flowing) -> FlowRun.Function {
        { flow, start in
            try await scheme.logout(flow, try start.token(of: Flowing.self))
            return IssuedToken(.absent)
        }
    }

    private func challenged<Flowing: ChallengeFlow>(_ scheme: Flowing) -> FlowRun.Function {
        { flow, start in
            guard let response = start.response else {
                throw SchemeError.internal("the host started a challenge without a response")
            }
            let token = start.token == nil ? nil : try start.token(of: Flowing.self)
            return try await scheme.challenge(flow, response, token)
        }
    }

    static func token(of bytes: UnsafeRawBufferPointer) throws(SchemeError) -> Scheme.Token {
        try Scheme.Token(decoding: Span(_unsafeBytes: bytes))
    }

    override func authorize(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>,
        _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        do throws(SchemeError) {
            if let token {
                try scheme.authorize(RequestView(view), Self.box(token).token, Edits(edits))
            } else {
                try scheme.authorize(RequestView(view), Edits(edits))
            }
            return Int32(NEVOD_OK)
        } catch {
            return error.report(to: errors)
        }
    }

    override func respond(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ response: UnsafePointer<nevod_response>,
        _ actions: UnsafePointer<nevod_actions>
    ) throws(SchemeError) -> Verdict {
        try scheme.respond(
            to: ResponseView(response), RequestView(view), token.map { Self.box($0).token }, ResponseEdits(actions))
    }

    private static func box(_ token: UnsafeRawPointer) -> TokenBox<Scheme.Token> {
        Unmanaged<TokenBox<Scheme.Token>>.fromOpaque(token).takeUnretainedValue()
    }
}

/// The object behind the host's pointer to a decoded token.
private final class TokenBox<Token: SchemeToken> {
    let token: Token

    init(_ token: Token) {
        self.token = token
    }
}

extension FlowStart {
    fileprivate func token<Scheme: FlowScheme>(of scheme: Scheme.Type) throws(SchemeError) -> Scheme.Token {
        guard let token else { throw .internal("the host gave this flow no token") }
        return try token.bytes.withUnsafeBytes { bytes throws(SchemeError) in try FlowSchemeBox<Scheme>.token(of: bytes) }
    }
}
