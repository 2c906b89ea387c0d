internal import CPluginCalls
internal import NevodPluginABI

/// The tables of sinks that a thread passes to plugins: a ring of each kind, of which each call uses the next.
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

    /// `host` of a table is no pointer: a plugin that changes it, or keeps it, can at worst name another call.
    private static func host(_ generation: UInt64) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(generation))
    }
}
