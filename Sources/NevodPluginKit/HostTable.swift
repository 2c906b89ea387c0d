internal import NevodPluginABI

/// A struct of the contract that the host fills and the kit copies. Such structs grow at their end: the host's may be shorter than the
/// kit's, or longer. (A single field is read through the pointer, which copies nothing else.)
protocol HostTable {
    /// All fields zero, which stands for the absence of what was appended since.
    init()
}

extension nevod_event: HostTable {}
extension nevod_response: HostTable {}

extension HostTable {
    /// Copies as much of a host's struct as it has and this kit knows; the rest stays zero. `pointee` would read beyond a shorter one.
    init(copying pointer: UnsafePointer<Self>) {
        let size = UnsafeRawPointer(pointer).load(as: UInt32.self)
        self.init()
        withUnsafeMutableBytes(of: &self) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), copy.count)))
        }
    }
}
