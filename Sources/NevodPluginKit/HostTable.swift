internal import NevodPluginABI

/// A struct of the contract that the host fills and the kit copies. Later versions of the contract append fields, so the host's
/// struct may be shorter or longer than the kit's. (A single field can be read through the pointer, which copies nothing else.)
protocol HostTable {
    /// All fields zero, as if the host lacked the appended ones.
    init()
}

extension nevod_event: HostTable {}
extension nevod_response: HostTable {}

extension HostTable {
    /// Copies the fields that both the host's struct and this kit have; the rest stay zero. `pointee` would read past the end of a
    /// shorter struct.
    init(copying pointer: UnsafePointer<Self>) {
        let size = UnsafeRawPointer(pointer).load(as: UInt32.self)
        self.init()
        withUnsafeMutableBytes(of: &self) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), copy.count)))
        }
    }
}

// Conversions between Swift's strings and the contract's borrowed bytes.

func withBytes<Result>(_ string: String, _ body: (nevod_bytes) -> Result) -> Result {
    var string = string
    return string.withUTF8 { body(nevod_bytes(data: $0.baseAddress, count: UInt64($0.count))) }
}

extension nevod_bytes {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: count == 0 ? nil : data, count: Int(count)) }
    var string: String { String(decoding: buffer, as: UTF8.self) }

    init(_ buffer: UnsafeRawBufferPointer) {
        self.init(data: buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count: UInt64(buffer.count))
    }

    init(_ string: StaticString) {
        self.init(data: string.utf8Start, count: UInt64(string.utf8CodeUnitCount))
    }

    /// Copies the string into memory that is never freed, for tables that live as long as the process.
    init(immortal string: String) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: string.utf8.count)
        _ = copy.initialize(fromContentsOf: string.utf8)
        self.init(UnsafeRawBufferPointer(copy))
    }
}
