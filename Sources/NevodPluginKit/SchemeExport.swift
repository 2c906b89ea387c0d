internal import NevodPluginABI

/// Makes the contract's table of one scheme. C functions can't capture and can't be generic, so each of them reaches the
/// Swift type through an object that the table or the instance carries.
enum SchemeExport {
    static func table<Scheme: AuthScheme>(of scheme: Scheme.Type) -> UnsafePointer<nevod_scheme> {
        let settings: [UnsafePointer<nevod_setting>?] = SettingsReader.declarations(of: scheme).map { declaration in
            immortal([
                nevod_setting(
                    struct_size: UInt32(MemoryLayout<nevod_setting>.size),
                    kind: declaration.kind.rawValue, flags: declaration.flags.rawValue,
                    choice_count: UInt32(declaration.choices.count),
                    choices: immortal(declaration.choices.map(nevod_bytes.init(immortal:))),
                    name: nevod_bytes(declaration.name),
                    default_value: nevod_bytes(immortal: declaration.defaultText),
                    help: nevod_bytes(declaration.help))
            ])
        }
        return immortal([
            nevod_scheme(
                struct_size: UInt32(MemoryLayout<nevod_scheme>.size), flags: 0,
                context: Unmanaged.passRetained(SchemeFactory<Scheme>() as AnySchemeFactory).toOpaque(),
                id: nevod_bytes(immortal: Scheme.id), title: nevod_bytes(immortal: Scheme.title),
                settings: immortal(settings), setting_count: UInt32(settings.count), reserved: 0,
                create: create, destroy: destroy, needs: needs,
                token_decode: nil, token_free: nil,
                authorize: authorize,
                on_response: nil, flow_begin: nil, flow_step: nil, flow_free: nil)
        ])
    }

    private static let create:
        @convention(c) (
            UnsafePointer<nevod_scheme>?, UnsafePointer<nevod_host>?, UnsafePointer<nevod_pair>?, UInt32,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<nevod_errors>?
        ) -> Int32 = { scheme, _, values, count, instance, errors in
            guard let context = scheme?.pointee.context, let instance, let errors else { return Int32(NEVOD_INTERNAL) }
            let factory = Unmanaged<AnySchemeFactory>.fromOpaque(context).takeUnretainedValue()
            do throws(SchemeFailure) {
                let made = try factory.make(UnsafeBufferPointer(start: values, count: Int(count)))
                instance.pointee = Unmanaged.passRetained(made).toOpaque()
                return Int32(NEVOD_OK)
            } catch {
                return error.report(to: errors)
            }
        }

    private static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { instance in
        guard let instance else { return }
        Unmanaged<AnySchemeBox>.fromOpaque(instance).release()
    }

    private static let needs: @convention(c) (UnsafeMutableRawPointer?) -> UnsafePointer<nevod_needs>? = { instance in
        guard let instance else { return nil }
        return Unmanaged<AnySchemeBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { $0.needs }
    }

    private static let authorize:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<nevod_view>?, UnsafePointer<nevod_edits>?,
            UnsafePointer<nevod_errors>?
        ) -> Int32 = { instance, _, view, edits, errors in
            guard let instance, let view, let edits, let errors else { return Int32(NEVOD_INTERNAL) }
            return Unmanaged<AnySchemeBox>.fromOpaque(instance)._withUnsafeGuaranteedRef {
                $0.authorize(view, edits, errors)
            }
        }
}

class AnySchemeFactory {
    func make(_ values: UnsafeBufferPointer<nevod_pair>) throws(SchemeFailure) -> AnySchemeBox {
        preconditionFailure("abstract")
    }
}

final class SchemeFactory<Scheme: AuthScheme>: AnySchemeFactory {
    override func make(_ values: UnsafeBufferPointer<nevod_pair>) throws(SchemeFailure) -> AnySchemeBox {
        SchemeBox(try SettingsReader.make(Scheme.self, from: values))
    }
}

/// An instance, as the host holds it.
class AnySchemeBox {
    let needs: UnsafePointer<nevod_needs>
    private let digests: UnsafeMutableBufferPointer<nevod_bytes>

    init(needs: Needs) {
        let names = DigestAlgorithm.allCases.filter { needs.contains($0.need) }.map { nevod_bytes($0.name) }
        digests = .allocate(capacity: names.count)
        _ = digests.initialize(from: names)
        let table = UnsafeMutablePointer<nevod_needs>.allocate(capacity: 1)
        table.initialize(
            to: nevod_needs(
                struct_size: UInt32(MemoryLayout<nevod_needs>.size), flags: needs.flags,
                digests: UnsafePointer(digests.baseAddress), digest_count: UInt32(names.count), reserved: 0))
        self.needs = UnsafePointer(table)
    }

    deinit {
        needs.deallocate()
        digests.deallocate()
    }

    func authorize(
        _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>, _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        preconditionFailure("abstract")
    }
}

final class SchemeBox<Scheme: AuthScheme>: AnySchemeBox {
    private let scheme: Scheme

    init(_ scheme: Scheme) {
        self.scheme = scheme
        super.init(needs: scheme.needs)
    }

    override func authorize(
        _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>, _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        do throws(SchemeFailure) {
            try scheme.authorize(RequestView(view), Edits(edits))
            return Int32(NEVOD_OK)
        } catch {
            return error.report(to: errors)
        }
    }
}
