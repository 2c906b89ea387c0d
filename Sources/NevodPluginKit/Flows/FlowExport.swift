internal import NevodPluginABI

/// The contract's functions that only a scheme with flows has.
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
