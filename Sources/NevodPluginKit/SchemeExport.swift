internal import NevodPluginABI

/// Creates the contract's table of a scheme. C functions can't capture and can't be generic, so each reaches the Swift type through
/// an object that the table or the instance refers to.
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
        // A freed flow runs to its end, and may use the services of the host, which are gone after this call.
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

    /// The contract's rule for kinds that a newer host may have: to sign such a request as if it were another would be wrong.
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
