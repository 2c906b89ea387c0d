internal import Glibc
internal import NevodPluginTesting
internal import NevodSupport

/// Memory on the heap, or between guard pages while ``guarded(_:_:)`` runs: what came before must not crash a check of a later call.
final class SwitchedMemory: InputMemory {
    /// How inputs lie in memory.
    enum Guard {
        /// At an edge beyond which nothing can be read.
        case bounds(GuardedMemory.Edge)
        /// In pages that can't be written.
        case readOnly
        /// In pages that can't be read after the call.
        case borrowed
    }

    private struct State {
        var mode: Guard?
        var guarded: [UInt: Guard] = [:]
    }

    private let state = Locked<State>(State())

    /// Runs `body` with inputs in pages of their own. These stay until the process ends.
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
        // Not unmapped, or the next input could get the same address, and a kept pointer would read that.
        guard case .borrowed = mode, let base = block.baseAddress else { return }
        mprotect(base, block.count, PROT_NONE)
    }
}
