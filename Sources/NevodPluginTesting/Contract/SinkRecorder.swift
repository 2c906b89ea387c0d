internal import NevodPluginABI
internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Takes the calls that a plugin makes during one call. A sink's `host` is a number, not a pointer, so that the use of a kept sink
/// is detected.
final class SinkRecorder: Sendable {
    let function: String
    let owner: any SinkOwner
    /// The real host's sinks, to which the plugin's calls are passed on; nil if there is no real host.
    private nonisolated(unsafe) let real: RealSinks?
    let generation: UInt
    private let thread = pthread_self()
    private let taken = Locked<Taken>(Taken())

    private struct Taken {
        var records: [SinkRecord] = []
        var reader = TableReader()
    }

    private struct Registry {
        var next: UInt = 1
        var current: [UInt: SinkRecorder] = [:]
        /// The latest calls that have returned, for messages about kept sinks.
        var finished: [(generation: UInt, owner: WeakOwner, function: String)] = []
    }

    private struct WeakOwner {
        weak var owner: (any SinkOwner)?
    }

    private static let registry = Locked<Registry>(Registry())
    private static let mostFinished = 256

    private init(_ function: String, _ owner: any SinkOwner, _ real: RealSinks?, _ generation: UInt) {
        self.function = function
        self.owner = owner
        self.real = real
        self.generation = generation
    }

    static func begin(_ function: String, _ owner: any SinkOwner, _ real: RealSinks? = nil) -> SinkRecorder {
        // Pointers to the host's tables, used only within its call.
        nonisolated(unsafe) let real = real
        return registry.withLock { registry in
            let recorder = SinkRecorder(function, owner, real, registry.next)
            registry.next += 1
            registry.current[recorder.generation] = recorder
            return recorder
        }
    }

    func end(_ result: Int32) -> ContractOutcome {
        Self.registry.withLock { registry in
            registry.current[generation] = nil
            registry.finished.append((generation, WeakOwner(owner: owner), function))
            if registry.finished.count > Self.mostFinished { registry.finished.removeFirst(Self.mostFinished / 2) }
        }
        return taken.withLock { ContractOutcome(result: result, sinks: $0.records, faults: $0.reader.faults) }
    }

    var opaque: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: generation) }

    /// Returns the recorder of a sink that is used in its call and on its thread. Notes the use of any other sink.
    static func current(_ host: UnsafeMutableRawPointer?, _ function: String) -> SinkRecorder? {
        let generation = UInt(bitPattern: host)
        let found = registry.withLock { registry in
            (registry.current[generation], registry.finished.last { $0.generation == generation })
        }
        if let recorder = found.0 {
            if pthread_equal(recorder.thread, pthread_self()) != 0 { return recorder }
            recorder.owner.note(KeptSinkCall(function: function, of: recorder.function))
        } else if let finished = found.1 {
            finished.owner.owner?.note(KeptSinkCall(function: function, of: finished.function))
        }
        return nil
    }

    /// The innermost call of an owner on this thread. Log lines belong to that call.
    static func current(of owner: any SinkOwner) -> SinkRecorder? {
        let thread = pthread_self()
        return registry.withLock { registry in
            registry.current.values.filter { $0.owner === owner && pthread_equal($0.thread, thread) != 0 }
                .max { $0.generation < $1.generation }
        }
    }

    func read<Value>(_ body: (inout TableReader) -> Value) -> Value {
        var reader = taken.withLock { $0.reader }
        let value = body(&reader)
        let read = reader
        taken.withLock { $0.reader = read }
        return value
    }

    /// Notes a call, and returns the result for the plugin.
    ///
    /// - Parameter forward: passes the call on to the real host.
    func take(_ call: SinkCall, otherwise: Int32 = Int32(NEVOD_OK), forward: ((RealSinks) -> Int32?)? = nil) -> Int32 {
        let index = taken.withLock { $0.records.count }
        let result = real.flatMap { forward?($0) } ?? owner.result(of: call, index) ?? otherwise
        taken.withLock { $0.records.append(SinkRecord(call, result: result)) }
        return result
    }

    private static func take(
        _ host: UnsafeMutableRawPointer?, _ function: String, _ make: (inout TableReader) -> SinkCall,
        forward: (RealSinks) -> Int32?
    ) -> Int32 {
        guard let recorder = current(host, function) else { return Int32(NEVOD_UNSUPPORTED) }
        return withoutActuallyEscaping(forward) { forward in recorder.take(recorder.read(make), forward: forward) }
    }

    // MARK: The tables

    var errors: nevod_errors {
        nevod_errors(
            struct_size: UInt32(MemoryLayout<nevod_errors>.size), reserved: 0, host: opaque,
            report: { host, subject, message, detail in
                _ = SinkRecorder.take(host, "report") {
                    .report(
                        subject: $0.bytes(subject, "a report's subject"), message: $0.bytes(message, "a report's message"),
                        detail: $0.bytes(detail, "a report's detail"))
                } forward: { real in
                    real.errors.map { $0.pointee.report($0.pointee.host, subject, message, detail) }
                    return 0
                }
            })
    }

    var edits: nevod_edits {
        nevod_edits(
            struct_size: UInt32(MemoryLayout<nevod_edits>.size), reserved: 0, host: opaque,
            set_header: { host, name, value in
                SinkRecorder.take(host, "set_header") {
                    .setHeader(name: $0.bytes(name, "a header's name"), value: $0.bytes(value, "a header's value"))
                } forward: {
                    $0.edits.map { $0.pointee.set_header($0.pointee.host, name, value) }
                }
            },
            add_header: { host, name, value in
                SinkRecorder.take(host, "add_header") {
                    .addHeader(name: $0.bytes(name, "a header's name"), value: $0.bytes(value, "a header's value"))
                } forward: {
                    $0.edits.map { $0.pointee.add_header($0.pointee.host, name, value) }
                }
            },
            add_query: { host, name, value in
                SinkRecorder.take(host, "add_query") {
                    .addQuery(name: $0.bytes(name, "a query item's name"), value: $0.bytes(value, "a query item's value"))
                } forward: {
                    $0.edits.map { $0.pointee.add_query($0.pointee.host, name, value) }
                }
            },
            add_cookie: { host, name, value in
                SinkRecorder.take(host, "add_cookie") {
                    .addCookie(name: $0.bytes(name, "a cookie's name"), value: $0.bytes(value, "a cookie's value"))
                } forward: {
                    $0.edits.map { $0.pointee.add_cookie($0.pointee.host, name, value) }
                }
            },
            replace_body: { host, body in
                SinkRecorder.take(host, "replace_body") {
                    .replaceBody($0.bytes(body, "the body"))
                } forward: {
                    $0.edits.map { $0.pointee.replace_body($0.pointee.host, body) }
                }
            },
            wrap_body: { host, length, wrapping in
                SinkRecorder.take(host, "wrap_body") { _ in
                    .wrapBody(length: length, wrapping: UInt(bitPattern: wrapping))
                } forward: {
                    $0.edits.map { $0.pointee.wrap_body($0.pointee.host, length, wrapping) }
                }
            })
    }

    var output: nevod_output {
        nevod_output(
            struct_size: UInt32(MemoryLayout<nevod_output>.size), reserved: 0, host: opaque,
            write: { host, bytes in
                SinkRecorder.take(host, "write") {
                    .write($0.bytes(bytes, "the output"))
                } forward: {
                    $0.output.map { $0.pointee.write($0.pointee.host, bytes) }
                }
            })
    }

    var actions: nevod_actions {
        nevod_actions(
            struct_size: UInt32(MemoryLayout<nevod_actions>.size), reserved: 0, host: opaque,
            send: { host, request in
                SinkRecorder.take(host, "send") {
                    .send($0.flowRequest(request))
                } forward: {
                    $0.actions.map { $0.pointee.send($0.pointee.host, request) }
                }
            },
            ask: { host, questions, count in
                SinkRecorder.take(host, "ask") {
                    .ask($0.questions(questions, count))
                } forward: {
                    $0.actions.map { $0.pointee.ask($0.pointee.host, questions, count) }
                }
            },
            show: { host, text, url in
                SinkRecorder.take(host, "show") {
                    .show(text: $0.bytes(text, "the text"), url: $0.bytes(url, "the url"))
                } forward: {
                    $0.actions.map { $0.pointee.show($0.pointee.host, text, url) }
                }
            },
            listen: { host, options in
                SinkRecorder.take(host, "listen") {
                    .listen($0.listen(options))
                } forward: {
                    $0.actions.map { $0.pointee.listen($0.pointee.host, options) }
                }
            },
            browse: { host, url in
                SinkRecorder.take(host, "browse") {
                    .browse(url: $0.bytes(url, "the url"))
                } forward: {
                    $0.actions.map { $0.pointee.browse($0.pointee.host, url) }
                }
            },
            wait: { host, nanoseconds in
                SinkRecorder.take(host, "wait") { _ in
                    .wait(nanoseconds: nanoseconds)
                } forward: {
                    $0.actions.map { $0.pointee.wait($0.pointee.host, nanoseconds) }
                }
            },
            keep: { host, token in
                SinkRecorder.take(host, "keep") {
                    .keep($0.token(token))
                } forward: {
                    $0.actions.map { $0.pointee.keep($0.pointee.host, token) }
                }
            },
            token: { host, token in
                SinkRecorder.take(host, "token") {
                    .token($0.token(token))
                } forward: {
                    $0.actions.map { $0.pointee.token($0.pointee.host, token) }
                }
            },
            set_state: { host, state in
                SinkRecorder.take(host, "set_state") {
                    .setState($0.bytes(state, "the state"))
                } forward: {
                    $0.actions.map { $0.pointee.set_state($0.pointee.host, state) }
                }
            })
    }
}

/// The creator of sinks. It learns which sinks a plugin keeps, and may decide the results of calls.
protocol SinkOwner: AnyObject, Sendable {
    /// Returns nil for the usual result.
    func result(of call: SinkCall, _ index: Int) -> Int32?
    func note(_ call: KeptSinkCall)
}

/// The sinks of the real host during a recording; valid during its call.
struct RealSinks {
    var errors: UnsafePointer<nevod_errors>?
    var edits: UnsafePointer<nevod_edits>?
    var actions: UnsafePointer<nevod_actions>?
    var output: UnsafePointer<nevod_output>?
}

/// A call of a sink outside the call that it was passed to, or on another thread.
package struct KeptSinkCall: Sendable, Equatable {
    /// The sink's function, such as `set_header`.
    package let function: String
    /// The plugin's function that the sink was passed to, such as `authorize`.
    package let of: String
}
