/// Gives the memory for what a plugin reads during a call. Replaceable, so that a check can put each input at the edge of a page that
/// nothing may touch.
package protocol InputMemory: Sendable {
    /// Returns zeroed memory.
    ///
    /// - Parameter byteCount: at least 1.
    func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawBufferPointer
    /// Called once all inputs of a call are in place; a memory may forbid writing from then on.
    func seal(_ block: UnsafeMutableRawBufferPointer)
    /// Called after the call with a block of ``allocate(byteCount:alignment:)``.
    func free(_ block: UnsafeMutableRawBufferPointer)
}
