internal import NevodPluginABI

/// Creates the contract's table for a scheme. C functions can't capture and can't be generic, so each reaches the Swift type
/// through an object that the table or the instance refers to.
enum SchemeExport {
    static func table<Scheme: AuthScheme>(of scheme: Scheme.Type, _ factory: SchemeFactory) -> nevod_scheme {
        let settings = SettingsReader.declarations(of: scheme).map { setting($0) }
        let parameters = Scheme.parameters.map { setting($0.declaration) }
        let flags =
            (Scheme.blocks ? UInt32(NEVOD_SCHEME_BLOCKS) : 0)
            | (Scheme.isNondeterministic ? UInt32(NEVOD_SCHEME_NONDETERMINISTIC) : 0)
        return nevod_scheme(
            struct_size: UInt32(MemoryLayout<nevod_scheme>.size), flags: flags,
            context: Unmanaged.passRetained(factory).toOpaque(),
            id: nevod_bytes(immortal: Scheme.id), title: nevod_bytes(immortal: Scheme.title),
            settings: immortal(settings), parameters: immortal(parameters), setting_count: UInt32(settings.count),
            parameter_count: UInt32(parameters.count),
            create: create, destroy: destroy, needs: needs,
            token_decode: nil, token_free: nil,
            authorize: authorize,
            on_response: respond, flow_begin: nil, flow_step: nil, flow_free: nil, body_piece: wrapBody, body_free: freeBody)
    }

    private static func setting(_ declaration: SettingDeclaration) -> UnsafePointer<nevod_setting>? {
        immortal([
            nevod_setting(
                struct_size: UInt32(MemoryLayout<nevod_setting>.size),
                kind: declaration.kind.rawValue, flags: declaration.flags.rawValue,
                choice_count: UInt32(declaration.choices.count),
                choices: immortal(declaration.choices.map { nevod_bytes(immortal: $0) }),
                name: nevod_bytes(declaration.name),
                default_value: nevod_bytes(immortal: declaration.defaultText),
                help: nevod_bytes(declaration.help))
        ])
    }

    private static let wrapBody:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, nevod_bytes, Int32, UnsafePointer<nevod_output>?,
            UnsafePointer<nevod_errors>?
        ) -> Int32 = { _, wrapping, piece, isLast, output, errors in
            guard let wrapping, let output, let errors else { return Int32(NEVOD_INTERNAL) }
            let box = Unmanaged<BodyWrapping>.fromOpaque(wrapping).takeUnretainedValue()
            do throws(SchemeError) {
                try box.wrap(Span(_unsafeBytes: piece.buffer), isLast != 0, BodyOutput(output))
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    private static let freeBody: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { _, wrapping in
        guard let wrapping else { return }
        Unmanaged<BodyWrapping>.fromOpaque(wrapping).release()
    }

    private static let create:
        @convention(c) (
            UnsafePointer<nevod_scheme>?, UnsafePointer<nevod_host>?, UnsafePointer<nevod_pair>?, UInt32,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { scheme, host, values, count, instance, errors in
            guard let context = scheme?.pointee.context, let instance, let errors else { return Int32(NEVOD_INTERNAL) }
            let factory = Unmanaged<SchemeFactory>.fromOpaque(context).takeUnretainedValue()
            do throws(SchemeError) {
                let made = try factory.make(UnsafeBufferPointer(start: values, count: Int(count)), host)
                instance.pointee = Unmanaged.passRetained(made).toOpaque()
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    private static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { instance in
        guard let instance else { return }
        let box = Unmanaged<SchemeBox>.fromOpaque(instance)
        // A freed flow runs until it finishes, and may use the services of the host, which are gone after this call.
        if box._withUnsafeGuaranteedRef({ $0.flows != nil }) { FlowQueue.settle(instance) }
        box.release()
    }

    private static let needs: @convention(c) (UnsafeMutableRawPointer?) -> UnsafePointer<nevod_needs>? = { instance in
        guard let instance else { return nil }
        return Unmanaged<SchemeBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { $0.needs }
    }

    private static let authorize:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<nevod_view>?, UnsafePointer<nevod_edits>?,
            UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, token, view, edits, errors in
            guard let instance, let view, let edits, let errors else { return Int32(NEVOD_INTERNAL) }
            guard isKnown(view) else {
                return SchemeError.unsupported("the host has a kind of target or body that this plugin doesn't know").report(
                    to: errors)
            }
            return Unmanaged<SchemeBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { box in
                guard view.pointee.target_kind == Int32(NEVOD_TARGET_ORIGIN) || box.authorizesProxies else {
                    return SchemeError.unsupported("its credential is for servers, not for proxies").report(to: errors)
                }
                return box.authorize(token, view, edits, errors)
            }
        }

    /// Whether this plugin knows the kinds of target and body. A newer host may have others, and a plugin must not sign such a
    /// request as if it were of a known kind.
    private static func isKnown(_ view: UnsafePointer<nevod_view>) -> Bool {
        isKnown(target: view.pointee.target_kind) && view.pointee.body_kind >= Int32(NEVOD_BODY_NONE)
            && view.pointee.body_kind <= Int32(NEVOD_BODY_STREAM)
    }

    static func isKnown(_ response: UnsafePointer<nevod_response>) -> Bool {
        isKnown(target: response.pointee.target_kind) && response.pointee.flags & NEVOD_CRITICAL_BITS == 0
    }

    private static func isKnown(target kind: Int32) -> Bool {
        kind >= Int32(NEVOD_TARGET_ORIGIN) && kind <= Int32(NEVOD_TARGET_PROXY)
    }

    private static let respond:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<nevod_view>?, UnsafePointer<nevod_response>?,
            UnsafePointer<nevod_actions>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, token, view, response, actions, errors in
            guard let instance, let view, let response, let actions, let errors, isKnown(view), isKnown(response) else {
                return Int32(NEVOD_VERDICT_NOTHING)
            }
            return Unmanaged<SchemeBox>.fromOpaque(instance)._withUnsafeGuaranteedRef {
                do throws(SchemeError) {
                    return try $0.respond(token, view, response, actions).rawValue
                } catch {
                    _ = error.report(to: errors)
                    return Verdict.refuse.rawValue
                }
            }
        }
}

/// Creates instances of one scheme.
final class SchemeFactory {
    typealias Make = (
        UnsafeBufferPointer<nevod_pair>, UnsafePointer<nevod_host>?
    ) throws(SchemeError) -> SchemeBox

    let make: Make

    init(_ make: @escaping Make) {
        self.make = make
    }
}

/// The target of the host's pointer to an instance. Its closures hold the scheme, because the contract's functions can't know its
/// type.
final class SchemeBox {
    typealias Authorize = (
        UnsafeRawPointer?, UnsafePointer<nevod_view>, UnsafePointer<nevod_edits>, UnsafePointer<nevod_errors>
    ) -> Int32
    typealias Respond = (
        UnsafeRawPointer?, UnsafePointer<nevod_view>, UnsafePointer<nevod_response>, UnsafePointer<nevod_actions>
    ) throws(SchemeError) -> Verdict

    let needs: UnsafePointer<nevod_needs>
    let authorize: Authorize
    let respond: Respond
    let authorizesProxies: Bool
    /// Nil if the scheme has no flows.
    let flows: SchemeFlows?
    private let digests: UnsafeMutableBufferPointer<nevod_bytes>
    private let responseDigests: UnsafeMutableBufferPointer<nevod_bytes>
    private let statuses: UnsafeMutableBufferPointer<Int32>
    private let types: UnsafeMutableBufferPointer<nevod_bytes>
    private let typeNames: UnsafeMutableBufferPointer<UInt8>

    init(
        needs: Needs, challengeStatuses: [Int], challengeTypes: [String], authorizesProxies: Bool,
        authorize: @escaping Authorize, respond: @escaping Respond, flows: SchemeFlows? = nil
    ) {
        self.authorizesProxies = authorizesProxies
        self.authorize = authorize
        self.respond = respond
        self.flows = flows
        digests = Self.copy(DigestAlgorithm.allCases.filter { needs.contains($0.need) }.map { nevod_bytes($0.name) })
        responseDigests = Self.copy(
            DigestAlgorithm.allCases.filter { needs.contains($0.responseNeed) }.map { nevod_bytes($0.name) })
        statuses = Self.copy(challengeStatuses.map { Int32(clamping: $0) })
        typeNames = Self.copy(challengeTypes.flatMap { Array($0.utf8) })
        var start = 0
        types = Self.copy(
            challengeTypes.map { [typeNames] type in
                let name = UnsafeBufferPointer(rebasing: typeNames[start..<start + type.utf8.count])
                start += type.utf8.count
                return nevod_bytes(data: name.baseAddress, count: UInt64(name.count))
            })
        let table = UnsafeMutablePointer<nevod_needs>.allocate(capacity: 1)
        table.initialize(
            to: nevod_needs(
                struct_size: UInt32(MemoryLayout<nevod_needs>.size), flags: needs.flags,
                digests: UnsafePointer(digests.baseAddress), response_digests: UnsafePointer(responseDigests.baseAddress),
                challenge_statuses: UnsafePointer(statuses.baseAddress), digest_count: UInt32(digests.count),
                response_digest_count: UInt32(responseDigests.count), challenge_status_count: UInt32(statuses.count),
                challenge_type_count: UInt32(types.count), challenge_types: UnsafePointer(types.baseAddress)))
        self.needs = UnsafePointer(table)
    }

    deinit {
        needs.deallocate()
        digests.deallocate()
        responseDigests.deallocate()
        statuses.deallocate()
        types.deallocate()
        typeNames.deallocate()
    }

    private static func copy<Value>(_ values: [Value]) -> UnsafeMutableBufferPointer<Value> {
        let copy = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
        _ = copy.initialize(from: values)
        return copy
    }
}

extension SchemeBox {
    convenience init<Scheme: AuthScheme>(_ scheme: Scheme) {
        let held = Held(scheme)
        self.init(
            needs: scheme.needs, challengeStatuses: scheme.challengeStatuses, challengeTypes: scheme.challengeTypes,
            authorizesProxies: Scheme.authorizesProxies,
            authorize: { _, view, edits, errors in
                do throws(SchemeError) {
                    try held.scheme.authorize(RequestView(view), Edits(edits))
                    return Int32(NEVOD_OK)
                } catch {
                    return error.report(to: errors)
                }
            },
            respond: { _, view, response, actions throws(SchemeError) in
                try held.scheme.respond(to: ResponseView(response), RequestView(view), ResponseEdits(actions))
            })
    }
}

/// Keeps a scheme in one place. A closure that captured the struct itself would copy it for each call.
package final class Held<Scheme: AuthScheme>: Sendable {
    package let scheme: Scheme

    package init(_ scheme: Scheme) {
        self.scheme = scheme
    }
}
