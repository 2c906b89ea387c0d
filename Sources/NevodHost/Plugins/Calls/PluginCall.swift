internal import CPluginCalls
internal import NevodPluginABI
internal import NevodSupport

/// The only way into a plugin's code. Names the call in case it crashes, and gives it a generation, which its sinks check.
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
    ///   - isTimed: whether the contract forbids the function to block unless its scheme says that it blocks.
    ///   - services: the instance's services.
    ///   - errors: the sink for errors; nil if the function has none.
    ///   - edits: the sink for edits; nil if the function has none.
    ///   - actions: the sink for actions; nil if the function has none.
    ///   - output: the sink for bytes; nil if the function has none.
    ///   - body: calls the function, and does nothing else.
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
        // The scheme may have moved to other threads since the caller decided to stay on this one.
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
    /// - Parameter function: the name of the code in messages.
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

    /// Returns the call that a sink belongs to, if it is the innermost one on this thread. Otherwise the plugin kept the sink and
    /// uses it too late, or on another thread: its memory is gone, or belongs to another request.
    ///
    /// - Parameters:
    ///   - host: the `host` of the sink's table, which is the generation of the sink's call.
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
        // Within a call, the called scheme is to blame. On a plugin's own thread, it's the scheme that was given the sink.
        guard let scheme = call?.pointee.scheme ?? nevod_call_scheme(UInt64(UInt(bitPattern: host))) else { return }
        Unmanaged<CalledScheme>.fromOpaque(scheme).takeUnretainedValue().warn(
            ofSink: function, call?.pointee.services.map { Unmanaged<HostServices>.fromOpaque($0).takeUnretainedValue() })
    }
}

/// The tables of sinks that a thread passes to plugins: a ring for each kind. Each call uses the next table of a ring.
///
/// Never freed, since a plugin may keep the pointer to a table. It then finds the generation of a call that has returned, or of a
/// later one, and both are refused.
struct SinkTables {
    private let base: UnsafeMutableRawPointer

    private static let slots = Int(NEVOD_CALL_SLOTS)
    private static let editsOffset = slots * MemoryLayout<nevod_errors>.stride
    private static let actionsOffset = editsOffset + slots * MemoryLayout<nevod_edits>.stride
    private static let outputOffset = actionsOffset + slots * MemoryLayout<nevod_actions>.stride
    private static let size = outputOffset + slots * MemoryLayout<nevod_output>.stride

    @inline(__always)
    init(of thread: UnsafeMutablePointer<nevod_call_thread>) {
        base = thread.pointee.tables ?? Self.make(for: thread)
    }

    @inline(never)
    private static func make(for thread: UnsafeMutablePointer<nevod_call_thread>) -> UnsafeMutableRawPointer {
        let base = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<nevod_errors>.alignment)
        base.initializeMemory(as: nevod_errors.self, repeating: ErrorSink.table, count: slots)
        (base + editsOffset).initializeMemory(as: nevod_edits.self, repeating: EditSink.table, count: slots)
        (base + actionsOffset).initializeMemory(as: nevod_actions.self, repeating: ActionSink.table, count: slots)
        (base + outputOffset).initializeMemory(as: nevod_output.self, repeating: OutputSink.table, count: slots)
        thread.pointee.tables = base
        return base
    }

    @inline(__always)
    func errors(_ generation: UInt64) -> UnsafePointer<nevod_errors> {
        let table = base.assumingMemoryBound(to: nevod_errors.self) + Self.slot(generation)
        table.pointee.host = Self.host(generation)
        return UnsafePointer(table)
    }

    @inline(__always)
    func edits(_ generation: UInt64) -> UnsafePointer<nevod_edits> {
        let table = (base + Self.editsOffset).assumingMemoryBound(to: nevod_edits.self) + Self.slot(generation)
        table.pointee.host = Self.host(generation)
        return UnsafePointer(table)
    }

    @inline(__always)
    func actions(_ generation: UInt64) -> UnsafePointer<nevod_actions> {
        let table = (base + Self.actionsOffset).assumingMemoryBound(to: nevod_actions.self) + Self.slot(generation)
        table.pointee.host = Self.host(generation)
        return UnsafePointer(table)
    }

    @inline(__always)
    func output(_ generation: UInt64) -> UnsafePointer<nevod_output> {
        let table = (base + Self.outputOffset).assumingMemoryBound(to: nevod_output.self) + Self.slot(generation)
        table.pointee.host = Self.host(generation)
        return UnsafePointer(table)
    }

    private static func slot(_ generation: UInt64) -> Int { Int(nevod_call_slot(generation)) }

    /// A table's `host` isn't a pointer: a plugin that changes or keeps it can at worst name another call.
    private static func host(_ generation: UInt64) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(generation))
    }
}

/// Takes the reason that a plugin's function reports when it fails. Lives on the stack of that call.
struct ErrorSink {
    private(set) var subject = ""
    private(set) var message = ""
    private(set) var detail: Secret?
    private(set) var isReported = false

    /// The contract's table for this sink. Each call stores its generation in the table's `host`.
    static var table: nevod_errors {
        nevod_errors(
            struct_size: UInt32(MemoryLayout<nevod_errors>.size), reserved: 0, host: nil,
            report: { host, subject, message, detail in
                PluginCall.errors(host, "report")?.pointee.report(subject, message, detail)
            })
    }

    private mutating func report(_ subject: nevod_bytes, _ message: nevod_bytes, _ detail: nevod_bytes) {
        guard !isReported else { return }
        isReported = true
        self.subject = subject.message
        self.message = message.message
        if detail.count > 0 {
            self.detail = Secret(
                copying: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(detail.buffer).prefix(Int(NEVOD_LIMIT_DETAIL))))
        }
    }

    func error(_ status: Int32, in call: FailedCall, of scheme: Scheme) -> PluginError {
        PluginError(
            scheme.plugin, failed: call, of: scheme.id, status: status, subject: subject, message: message, detail: detail)
    }
}
