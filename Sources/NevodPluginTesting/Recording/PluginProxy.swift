package import NevodPluginABI
internal import NevodSupport

/// A plugin between a host and another plugin: passes every call on, and tells what crossed the contract. May also give the plugin
/// another time and other random bytes than the host does. Lives until the process ends, as a plugin does.
package final class PluginProxy: Sendable {
    package struct Options: Sendable {
        /// Receives each call when it has returned; on the thread of the call.
        package var record: (@Sendable (RecordedCall) -> Void)?
        /// Nanoseconds since 1970 that the plugin sees instead of the host's.
        package var unixTime: Int64?
        /// The 32 bytes that the plugin gets instead of the host's.
        package var random: [UInt8]?

        package init() {}
    }

    // Written in `init`, and never freed.
    package nonisolated(unsafe) let table: UnsafePointer<nevod_plugin>
    let options: Options

    /// The proxies of schemes by the tables that they were made for; read by `create`, which gets a table and no context.
    private static let schemes = Locked<[UInt: ProxyScheme]>([:])

    /// - Parameter plugin: of this contract's draft; a host checks that afterwards, since the proxy has the same fields.
    package init(_ plugin: UnsafePointer<nevod_plugin>, _ options: Options) {
        self.options = options
        let known = ContractHost.schemes(of: plugin)
        guard !known.isEmpty, plugin.pointee.struct_size >= NEVOD_PLUGIN_MINIMUM, known.count == Int(plugin.pointee.scheme_count)
        else {
            // Broken in a way that the host explains.
            table = plugin
            return
        }
        let tables = UnsafeMutablePointer<UnsafePointer<nevod_scheme>?>.allocate(capacity: known.count)
        for (index, scheme) in known.enumerated() {
            (tables + index).initialize(to: Self.proxy(of: scheme, options))
        }
        let copy = UnsafeMutablePointer<nevod_plugin>.allocate(capacity: 1)
        copy.initialize(to: plugin.pointee)
        copy.pointee.struct_size = UInt32(MemoryLayout<nevod_plugin>.size)
        copy.pointee.schemes = UnsafePointer(tables)
        copy.pointee.get_extension = nil
        table = UnsafePointer(copy)
    }

    private static func proxy(of scheme: UnsafePointer<nevod_scheme>, _ options: Options) -> UnsafePointer<nevod_scheme> {
        guard scheme.pointee.struct_size >= NEVOD_SCHEME_MINIMUM else { return scheme }
        let copy = UnsafeMutablePointer<nevod_scheme>.allocate(capacity: 1)
        var table = scheme.pointee
        table.struct_size = UInt32(MemoryLayout<nevod_scheme>.size)
        if table.create != nil {
            table.create = { scheme, host, values, count, instance, errors in
                guard let scheme, let host, let instance, let proxy = PluginProxy.scheme(at: scheme) else {
                    return Int32(NEVOD_INTERNAL)
                }
                return proxy.create(host, values, count, instance, errors)
            }
        }
        if table.destroy != nil { table.destroy = { ProxyInstance.taken($0)?.destroy() } }
        if table.needs != nil { table.needs = { ProxyInstance.of($0)?.needs() ?? nil } }
        if table.token_decode != nil {
            table.token_decode = { instance, bytes, token, errors in
                guard let token, let instance = ProxyInstance.of(instance) else { return Int32(NEVOD_INTERNAL) }
                return instance.decode(bytes, token, errors)
            }
        }
        if table.token_free != nil { table.token_free = { ProxyInstance.of($0)?.freeToken($1) } }
        if table.authorize != nil {
            table.authorize = { instance, token, view, edits, errors in
                guard let view, let edits, let errors, let instance = ProxyInstance.of(instance) else {
                    return Int32(NEVOD_INTERNAL)
                }
                return instance.authorize(token, view, edits, errors)
            }
        }
        if table.on_response != nil {
            table.on_response = { instance, token, view, response, actions, errors in
                guard let view, let response, let instance = ProxyInstance.of(instance) else {
                    return Int32(NEVOD_VERDICT_NOTHING)
                }
                return instance.respond(token, view, response, actions, errors)
            }
        }
        if table.flow_begin != nil {
            table.flow_begin = { instance, kind, flow, errors in
                guard let flow, let instance = ProxyInstance.of(instance) else { return Int32(NEVOD_INTERNAL) }
                return instance.begin(kind, flow, errors)
            }
        }
        if table.flow_step != nil {
            table.flow_step = { instance, flow, event, actions, errors in
                guard let event, let instance = ProxyInstance.of(instance) else { return Int32(NEVOD_INTERNAL) }
                return instance.step(flow, event, actions, errors)
            }
        }
        if table.flow_free != nil { table.flow_free = { ProxyInstance.of($0)?.freeFlow($1) } }
        if table.body_piece != nil {
            table.body_piece = { instance, wrapping, piece, isLast, output, errors in
                guard let instance = ProxyInstance.of(instance) else { return Int32(NEVOD_INTERNAL) }
                return instance.piece(wrapping, piece, isLast, output, errors)
            }
        }
        if table.body_free != nil { table.body_free = { ProxyInstance.of($0)?.freeBody($1) } }
        copy.initialize(to: table)
        let proxy = ProxyScheme(scheme, options)
        schemes.withLock { $0[UInt(bitPattern: copy)] = proxy }
        return UnsafePointer(copy)
    }

    private static func scheme(at table: UnsafePointer<nevod_scheme>) -> ProxyScheme? {
        schemes.withLock { $0[UInt(bitPattern: table)] }
    }
}
