internal import Glibc
internal import NevodPluginTesting
internal import NevodSupport

/// Memory on the heap, or between guard pages while ``guarded(_:_:)`` runs. Earlier calls use the heap, so that they can't crash
/// the check of a later call.
final class SwitchedMemory: InputMemory {
    /// The protection of inputs.
    enum Guard {
        /// Inputs are at an edge; nothing beyond it can be read.
        case bounds(GuardedMemory.Edge)
        /// Inputs are in pages that can't be written.
        case readOnly
        /// Inputs are in pages that can't be read after the call.
        case borrowed
    }

    private struct State {
        var mode: Guard?
        var guarded: [UInt: Guard] = [:]
    }

    private let state = Locked<State>(State())

    /// Runs `body` with inputs in separate pages. The pages stay until the process ends.
    func guarded<Result>(_ mode: Guard, _ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.mode = mode }
        defer { state.withLock { $0.mode = nil } }
        return try body()
    }

    private static func pages(_ mode: Guard) -> GuardedMemory {
        switch mode {
        case .bounds(let edge): GuardedMemory(edge: edge, isSealed: false)
        case .readOnly: GuardedMemory(edge: .start, isSealed: true)
        case .borrowed: GuardedMemory(edge: .start, isSealed: false)
        }
    }

    func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawBufferPointer {
        guard let mode = state.withLock({ $0.mode }) else {
            return HeapMemory().allocate(byteCount: byteCount, alignment: alignment)
        }
        let block = Self.pages(mode).allocate(byteCount: byteCount, alignment: alignment)
        state.withLock { $0.guarded[UInt(bitPattern: block.baseAddress)] = mode }
        return block
    }

    func seal(_ block: UnsafeMutableRawBufferPointer) {
        guard let mode = state.withLock({ $0.guarded[UInt(bitPattern: block.baseAddress)] }) else { return }
        Self.pages(mode).seal(block)
    }

    func free(_ block: UnsafeMutableRawBufferPointer) {
        guard let mode = state.withLock({ $0.guarded[UInt(bitPattern: block.baseAddress)] }) else {
            return HeapMemory().free(block)
        }
        // Not unmapped. Otherwise the next input could get the same address, and a kept pointer would read that input.
        guard case .borrowed = mode, let base = block.baseAddress else { return }
        mprotect(base, block.count, PROT_NONE)
    }
}
