internal import NevodPluginABI

/// Takes the bytes that a plugin writes in one call. Lives on the stack of that call.
struct OutputSink {
    private(set) var bytes: [UInt8] = []
    /// The plugin's first mistake.
    private(set) var problem: String?
    private let limit: Int64

    /// - Parameter limit: the most bytes of the call: what is left of the announced length.
    init(limit: Int64) {
        self.limit = limit
    }

    /// The contract's table, whose `host` each call sets to its generation.
    static var table: nevod_output {
        nevod_output(
            struct_size: UInt32(MemoryLayout<nevod_output>.size), reserved: 0, host: nil,
            write: { host, bytes in
                guard let sink = PluginCall.output(host, "write") else { return Int32(NEVOD_UNSUPPORTED) }
                return sink.pointee.write(bytes)
            })
    }

    private mutating func write(_ new: nevod_bytes) -> Int32 {
        guard problem == nil else { return Int32(NEVOD_UNSUPPORTED) }
        guard new.count == 0 || new.data != nil else {
            problem = "it wrote bytes that have a length but no data"
            return Int32(NEVOD_UNSUPPORTED)
        }
        guard new.count <= UInt64(limit - Int64(bytes.count)) else {
            problem = "it wrote more bytes than wrap_body announced"
            return Int32(NEVOD_UNSUPPORTED)
        }
        bytes += new.buffer
        return Int32(NEVOD_OK)
    }
}
