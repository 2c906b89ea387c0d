package import NevodPluginABI
internal import NevodSupport

/// A plugin between a host and another plugin. It passes every call on, and reports what crossed the contract. It may replace the
/// host's time and random bytes. It lives until the process ends, as a plugin does.
package final class PluginProxy: Sendable {
    package struct Options: Sendable {
        /// Receives each call when it has returned, on the thread of the call.
        package var record: (@Sendable (RecordedCall) -> Void)?
        /// The time that the plugin sees instead of the host's, in nanoseconds since 1970.
        package var unixTime: Int64?
        /// The 32 bytes that the plugin gets instead of the host's.
        package var random: [UInt8]?

        package init() {}
    }

    // Written in `init`, and never freed.
    package nonisolated(unsafe) let table: UnsafePointer<nevod_plugin>
    let options: Options

    /// The schemes' proxies, by the tables that they were made for. `create` reads them, because it gets a table and no context.
    private static let schemes = Locked<[UInt: ProxyScheme]>([:])

    /// - Parameter plugin: must be of this contract's draft. The host checks that afterwards, because the proxy has the same
    ///   fields.
    package init(_ plugin: UnsafePointer<nevod_plugin>, _ options: Options) {
        self.options = options
        let known = ContractHost.schemes(of: plugin)
        guard !known.isEmpty, plugin.pointee.struct_size >= NEVOD_PLUGIN_MINIMUM, known.count == Int(plugin.pointee.scheme_count)
        else {
            // Invalid; the host will report it.
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

/// A scheme that a ``PluginProxy`` passes calls to.
final class ProxyScheme: Sendable {
    // Immutable and valid until the process ends, by the contract.
    nonisolated(unsafe) let real: UnsafePointer<nevod_scheme>
    let options: PluginProxy.Options

    /// Counts the process's instances, tokens, flows and wrappings, so that their numbers are unique.
    private static let numbers = Locked<Int>(0)

    init(_ real: UnsafePointer<nevod_scheme>, _ options: PluginProxy.Options) {
        self.real = real
        self.options = options
    }

    static func nextNumber() -> Int {
        numbers.withLock { number in
            number += 1
            return number
        }
    }

    func create(
        _ host: UnsafePointer<nevod_host>, _ values: UnsafePointer<nevod_pair>?, _ count: UInt32,
        _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        let made = ProxyInstance(self, host)
        var reader = TableReader()
        let id = reader.bytes(real.pointee.id, "the scheme's id")
        let settings = reader.pairs(values, count, "the settings")
        var handle: UnsafeMutableRawPointer?
        let outcome = made.call("create", RealSinks(errors: errors)) { sinks in
            withUnsafePointer(to: sinks.errors) { errors in
                real.pointee.create(real, made.services, values, count, &handle, errors)
            }
        }
        made.record(.create(scheme: id, settings: settings), outcome)
        guard outcome.result == NEVOD_OK else { return outcome.result }
        made.handle = handle
        instance.pointee = Unmanaged.passRetained(made).toOpaque()
        return outcome.result
    }
}
