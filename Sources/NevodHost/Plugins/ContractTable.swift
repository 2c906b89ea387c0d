internal import NevodPluginABI
internal import NevodSupport

/// A struct of the contract that a plugin fills. Such structs grow at their end: a plugin's may be shorter than the host's, or longer.
protocol ContractTable {
    /// All fields zero, which stands for the absence of what was appended since.
    init()
}

extension nevod_plugin: ContractTable {}
extension nevod_scheme: ContractTable {}
extension nevod_setting: ContractTable {}
extension nevod_needs: ContractTable {}
extension nevod_token: ContractTable {}
extension nevod_flow_request: ContractTable {}
extension nevod_question: ContractTable {}
extension nevod_listen: ContractTable {}

extension ContractTable {
    /// Returns the size that the struct itself names. `pointee` would read the whole of a shorter one.
    static func size(of pointer: UnsafePointer<Self>) -> UInt32 { UnsafeRawPointer(pointer).load(as: UInt32.self) }

    /// Copies as much of a plugin's struct as it has and this host knows; the rest stays zero.
    ///
    /// - Parameter minimum: the size in the struct's first frozen revision.
    /// - Returns: nil if it is shorter than that.
    init?(copying pointer: UnsafePointer<Self>, minimum: UInt32) {
        let size = Self.size(of: pointer)
        guard size >= minimum else { return nil }
        self.init()
        withUnsafeMutableBytes(of: &self) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), copy.count)))
        }
    }
}
