internal import NevodPluginABI
internal import NevodSupport

/// A scheme behind a ``PluginProxy``.
final class ProxyScheme: Sendable {
    // Immutable and valid until the process ends, by the contract.
    nonisolated(unsafe) let real: UnsafePointer<nevod_scheme>
    let options: PluginProxy.Options

    /// Counts instances, tokens, flows and wrappings of the process, so that their numbers are unique.
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
