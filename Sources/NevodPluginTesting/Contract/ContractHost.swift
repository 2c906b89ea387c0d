internal import NevodPluginABI
internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A host for one scheme in any language, without a network. It passes inputs on, records what the plugin does, and checks nothing,
/// so it even records what a real host refuses. Several threads may use it.
package final class ContractHost: SinkOwner {
    package struct Options: Sendable {
        /// The memory for the inputs of calls.
        package var memory: any InputMemory = HeapMemory()
        /// The sizes of structs that differ from this host's.
        package var shapes: [ContractStruct: StructShape] = [:]
        /// The pointer of empty bytes, which a plugin must not read; nil for NULL.
        package var pointerOfEmpty: UInt?
        package var name = "NevodHost"
        package var version = "0.0.0"
        /// The domains for which `is_public` returns 1, in addition to invalid names and names without a dot; nil for a host
        /// without the extension `nevod.public-suffix/1`.
        package var publicSuffixes: Set<String>? = ["co.uk", "com", "github.io", "io", "net", "org"]

        /// Called before and after each call of the plugin, with the function's name, so that another process can tell where a
        /// plugin crashed or did not return. Any thread.
        package var observer: (@Sendable (_ function: String, _ isEntering: Bool) -> Void)?

        package init() {}
    }

    /// Decides the result of the `index`-th call that a plugin's function makes; nil for the usual result.
    package typealias SinkResult = @Sendable (_ call: SinkCall, _ index: Int) -> Int32?

    // Immutable and valid until the process ends, by the contract.
    package nonisolated(unsafe) let scheme: UnsafePointer<nevod_scheme>
    package let options: Options
    private let number: UInt
    private let notes = Locked<Notes>(Notes())

    private struct Notes {
        var kept: [KeptSinkCall] = []
        var logs: [SinkCall] = []
        var result: SinkResult?
    }

    /// - Parameter scheme: must outlive this object; by the contract, it is valid until the process ends.
    package init(_ scheme: UnsafePointer<nevod_scheme>, _ options: Options = Options()) {
        self.scheme = scheme
        self.options = options
        number = Self.numbers.withLock { numbers in
            numbers.next += 1
            return numbers.next
        }
        Self.numbers.withLock { [number] in $0.hosts[number] = Weak(host: self) }
    }

    deinit {
        Self.numbers.withLock { [number] in $0.hosts[number] = nil }
    }

    /// The schemes of a plugin's table, in its order.
    package static func schemes(of plugin: UnsafePointer<nevod_plugin>) -> [UnsafePointer<nevod_scheme>] {
        var reader = TableReader()
        guard let table = reader.table(plugin, nevod_plugin(), NEVOD_PLUGIN_MINIMUM, "nevod_plugin") else { return [] }
        return reader.array(table.schemes, table.scheme_count, "nevod_plugin.schemes").compactMap { $0 }
    }

    // MARK: Notes

    /// The uses of sinks after their call or on another thread, in order.
    package var keptSinkCalls: [KeptSinkCall] { notes.withLock { $0.kept } }

    /// The log lines that the plugin wrote outside calls, from its own threads.
    package var linesOutsideOfCalls: [SinkCall] { notes.withLock { $0.logs } }

    /// Replaces the results of sinks, from the next call on.
    package func replaceResults(_ result: SinkResult?) { notes.withLock { $0.result = result } }

    func result(of call: SinkCall, _ index: Int) -> Int32? {
        let result = notes.withLock { $0.result }
        return result?(call, index)
    }

    func note(_ call: KeptSinkCall) { notes.withLock { $0.kept.append(call) } }

    // MARK: Calls

    /// Calls a function with new sinks.
    func call(
        _ function: String, _ inputs: InputArena, _ body: (SinkRecorder, InputArena) -> Int32
    ) -> ContractOutcome {
        let recorder = SinkRecorder.begin(function, self)
        let result = observed(function) { body(recorder, inputs) }
        return recorder.end(result)
    }

    /// Calls a function of the plugin, and nothing else.
    func observed<Result>(_ function: String, _ body: () -> Result) -> Result {
        options.observer?(function, true)
        defer { options.observer?(function, false) }
        return body()
    }

    /// Calls `create`.
    ///
    /// - Returns: the instance if the status is `NEVOD_OK`.
    package func create(_ settings: [ContractPair]) -> (ContractInstance?, ContractOutcome) {
        let arena = InputArena(options)
        let services = InputArena(options)
        let sinks = InputArena(options)
        let table = services.table(serviceTable(services), .host)
        services.seal()
        var handle: UnsafeMutableRawPointer?
        let outcome = call("create", arena) { recorder, arena in
            let errors = sinks.table(recorder.errors, .errors)
            let values = arena.pairs(settings)
            arena.seal()
            sinks.seal()
            return scheme.pointee.create(scheme, table, values, UInt32(clamping: settings.count), &handle, errors)
        }
        guard outcome.result == NEVOD_OK else { return (nil, outcome) }
        return (ContractInstance(self, handle, services, sinks), outcome)
    }

    private func serviceTable(_ arena: InputArena) -> nevod_host {
        nevod_host(
            struct_size: 0, abi_minor: NEVOD_ABI_MINOR, host: UnsafeMutableRawPointer(bitPattern: number),
            name: arena.bytes(Array(options.name.utf8)), version: arena.bytes(Array(options.version.utf8)),
            log: { host, level, message in ContractHost.at(host)?.log(level, message) },
            get_extension: { host, name in ContractHost.at(host)?.publicSuffixTable(name) })
    }

    private func log(_ level: Int32, _ message: nevod_bytes) {
        guard let recorder = SinkRecorder.current(of: self) else {
            var reader = TableReader()
            let line = SinkCall.log(level: level, message: reader.bytes(message, "a log line"))
            return notes.withLock { $0.logs.append(line) }
        }
        _ = recorder.take(recorder.read { .log(level: level, message: $0.bytes(message, "a log line")) })
    }

    private func publicSuffixTable(_ name: nevod_bytes) -> UnsafeRawPointer? {
        var reader = TableReader()
        let name = reader.bytes(name, "an extension's name")
        let isThere = options.publicSuffixes != nil && name.elementsEqual("nevod.public-suffix/1".utf8)
        let result = SinkRecorder.current(of: self)?.take(.getExtension(name: name), otherwise: isThere ? 1 : 0)
        guard isThere, result != 0 else { return nil }
        let host = UnsafeMutableRawPointer(bitPattern: number)
        let table = Self.numbers.withLock { numbers in
            if let known = numbers.suffixTables[number] { return known }
            // Never freed: it must outlive the instance, which may never be destroyed.
            let table = UnsafeMutablePointer<nevod_public_suffix>.allocate(capacity: 1)
            table.initialize(
                to: nevod_public_suffix(
                    struct_size: UInt32(MemoryLayout<nevod_public_suffix>.size), reserved: 0, host: host,
                    is_public: { host, domain in ContractHost.at(host)?.isPublic(domain) ?? 1 }))
            numbers.suffixTables[number] = UInt(bitPattern: table)
            return UInt(bitPattern: table)
        }
        return UnsafeRawPointer(bitPattern: table)
    }

    private func isPublic(_ domain: nevod_bytes) -> Int32 {
        var reader = TableReader()
        let bytes = reader.bytes(domain, "a domain")
        let text = String(decoding: bytes, as: UTF8.self)
        let isName = !bytes.isEmpty && bytes.count <= 253 && bytes.allSatisfy(\.isVisible)
        let isPublic: Int32 =
            !isName || !bytes.contains(UInt8(ascii: ".")) || (options.publicSuffixes ?? []).contains(text) ? 1 : 0
        return SinkRecorder.current(of: self)?.take(.isPublicSuffix(domain: bytes), otherwise: isPublic) ?? isPublic
    }

    // MARK: Hosts by number

    private struct Weak {
        weak var host: ContractHost?
    }

    private struct Numbers {
        var next: UInt = 0
        var hosts: [UInt: Weak] = [:]
        var suffixTables: [UInt: UInt] = [:]
    }

    private static let numbers = Locked<Numbers>(Numbers())

    /// A table's `host` is a number, so that a plugin that uses it after `destroy` finds nothing.
    private static func at(_ number: UnsafeMutableRawPointer?) -> ContractHost? {
        numbers.withLock { $0.hosts[UInt(bitPattern: number)]?.host }
    }
}
