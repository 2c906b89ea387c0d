/// Inputs on the heap.
package struct HeapMemory: InputMemory {
    package init() {}

    package func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: alignment)
        block.initializeMemory(as: UInt8.self, repeating: 0)
        return block
    }

    package func seal(_ block: UnsafeMutableRawBufferPointer) {}

    package func free(_ block: UnsafeMutableRawBufferPointer) { block.deallocate() }
}
