internal import CPluginCalls
internal import NevodPluginABI

/// The one way into a plugin's code. Names the call for the case of a crash, and gives it a generation, which its sinks check.
enum PluginCall {
    /// The tables of the sinks of a call.
    struct Sinks {
        fileprivate let tables: SinkTables
        fileprivate let generation: UInt64

        var errors: UnsafePointer<nevod_errors> { tables.errors(generation) }
        var edits: UnsafePointer<nevod_edits> { tables.edits(generation) }
        var actions: UnsafePointer<nevod_actions> { tables.actions(generation) }
        var output: UnsafePointer<nevod_output> { tables.output(generation) }
    }

    /// Calls a function of a scheme.
    ///
    /// - Parameters:
    ///   - function: the function's name in the contract.
    ///   - isTimed: whether the function must not block, unless its scheme says so.
    ///   - services: those of the instance.
    ///   - errors: the sink for errors; nil if the function has none.
    ///   - edits: the same for edits.
    ///   - actions: the same for actions.
    ///   - output: the same for bytes.
    ///   - body: calls the function, and nothing else.
    @inline(__always)
    static func run<Result>(
        _ function: StaticString, isTimed: Bool = false, _ services: HostServices,
        errors: UnsafeMutablePointer<ErrorSink>? = nil, edits: UnsafeMutablePointer<EditSink>? = nil,
        actions: UnsafeMutablePointer<ActionSink>? = nil, output: UnsafeMutablePointer<OutputSink>? = nil,
        _ body: (Sinks) -> Result
    ) -> Result {
        var call = nevod_call()
        call.names = services.scheme.names
        call.function = name(function)
        call.scheme = UnsafeRawPointer(Unmanaged.passUnretained(services.scheme).toOpaque())
        call.services = Unmanaged.passUnretained(services).toOpaque()
        // The scheme may have been moved since its caller decided to stay on this thread.
        call.is_limited = isTimed ? (services.scheme.mayBlock ? 2 : 1) : 0
        call.errors = UnsafeMutableRawPointer(errors)
        call.edits = UnsafeMutableRawPointer(edits)
        call.actions = UnsafeMutableRawPointer(actions)
        call.output = UnsafeMutableRawPointer(output)
        return withUnsafeMutablePointer(to: &call) { call in
            nevod_call_enter(call)
            defer {
                nevod_call_leave(call)
                if isTimed {
                    let time = nevod_call_clock() - call.pointee.began
                    if time > CalledScheme.longestCall {
                        services.scheme.move(after: "\(function)", time, hasReturned: true, services)
                    }
                }
            }
            return body(Sinks(tables: SinkTables(of: call.pointee.thread), generation: call.pointee.generation))
        }
    }

    /// Runs code of a library whose schemes are not known yet: its constructors, or its entry point.
    ///
    /// - Parameter function: a name for it in messages.
    static func run<Result>(_ function: StaticString, ofLibrary path: String, _ body: () -> Result) -> Result {
        var call = nevod_call()
        call.names = CalledScheme.of(library: path).names
        call.function = name(function)
        return withUnsafeMutablePointer(to: &call) { call in
            nevod_call_enter(call)
            defer { nevod_call_leave(call) }
            return body()
        }
    }

    static func name(_ function: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(function.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    // MARK: Sinks

    static func errors(_ host: UnsafeMutableRawPointer?, _ function: StaticString) -> UnsafeMutablePointer<ErrorSink>? {
        current(host, function)?.pointee.errors?.assumingMemoryBound(to: ErrorSink.self)
    }

    static func edits(_ host: UnsafeMutableRawPointer?, _ function: StaticString) -> UnsafeMutablePointer<EditSink>? {
        current(host, function)?.pointee.edits?.assumingMemoryBound(to: EditSink.self)
    }

    static func actions(_ host: UnsafeMutableRawPointer?, _ function: StaticString) -> UnsafeMutablePointer<ActionSink>? {
        current(host, function)?.pointee.actions?.assumingMemoryBound(to: ActionSink.self)
    }

    static func output(_ host: UnsafeMutableRawPointer?, _ function: StaticString) -> UnsafeMutablePointer<OutputSink>? {
        current(host, function)?.pointee.output?.assumingMemoryBound(to: OutputSink.self)
    }

    /// Returns the call that a sink belongs to, if it is the innermost one on this thread. Otherwise the plugin has kept the sink,
    /// and uses it later, or on another thread: the sink's memory is gone, or serves another request.
    ///
    /// - Parameters:
    ///   - host: `host` of the sink's table, the generation of its call.
    ///   - function: the function of the sink that the plugin called.
    @inline(__always)
    private static func current(_ host: UnsafeMutableRawPointer?, _ function: StaticString) -> UnsafeMutablePointer<nevod_call>? {
        guard let call = nevod_call_current(), call.pointee.generation == UInt64(UInt(bitPattern: host)) else {
            refuse(host, function)
            return nil
        }
        return call
    }

    @inline(never)
    private static func refuse(_ host: UnsafeMutableRawPointer?, _ function: StaticString) {
        let call = nevod_call_current()
        // Within a call the caller is certain; on a plugin's own thread, it is the scheme that was given the sink.
        guard let scheme = call?.pointee.scheme ?? nevod_call_scheme(UInt64(UInt(bitPattern: host))) else { return }
        Unmanaged<CalledScheme>.fromOpaque(scheme).takeUnretainedValue().warn(
            ofSink: function, call?.pointee.services.map { Unmanaged<HostServices>.fromOpaque($0).takeUnretainedValue() })
    }
}
