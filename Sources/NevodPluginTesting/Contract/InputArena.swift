internal import NevodPluginABI

/// The inputs of one call; freed with this object.
final class InputArena {
    private let memory: any InputMemory
    private let shapes: [ContractStruct: StructShape]
    private let emptyPointer: UnsafePointer<UInt8>?
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    init(_ options: ContractHost.Options) {
        memory = options.memory
        shapes = options.shapes
        emptyPointer = options.pointerOfEmpty.flatMap { UnsafePointer(bitPattern: $0) }
    }

    deinit {
        for block in blocks { memory.free(block) }
    }

    func seal() {
        for block in blocks { memory.seal(block) }
    }

    private func block(_ byteCount: Int, _ alignment: Int) -> UnsafeMutableRawBufferPointer {
        let block = memory.allocate(byteCount: byteCount, alignment: alignment)
        blocks.append(block)
        return block
    }

    func bytes(_ bytes: [UInt8]) -> nevod_bytes {
        guard !bytes.isEmpty else { return nevod_bytes(data: emptyPointer, count: 0) }
        let block = block(bytes.count, 1)
        block.copyBytes(from: bytes)
        return nevod_bytes(data: block.baseAddress?.assumingMemoryBound(to: UInt8.self), count: UInt64(bytes.count))
    }

    func pairs(_ pairs: [ContractPair]) -> UnsafePointer<nevod_pair>? {
        guard !pairs.isEmpty else { return nil }
        let values = pairs.map { nevod_pair(name: bytes($0.name), value: bytes($0.value)) }
        let block = block(values.count * MemoryLayout<nevod_pair>.stride, MemoryLayout<nevod_pair>.alignment)
        values.withUnsafeBytes { block.copyMemory(from: $0) }
        return UnsafePointer(block.baseAddress?.assumingMemoryBound(to: nevod_pair.self))
    }

    /// - Parameter value: of a trivial type, whose first field is `struct_size`.
    func table<Value>(_ value: Value, _ kind: ContractStruct) -> UnsafePointer<Value> {
        let known = MemoryLayout<Value>.size
        let size = shapes[kind]?.size ?? known
        // The contract's alignment; a shortened struct's size may be no multiple of it.
        let block = block(max(size, 4), MemoryLayout<Value>.alignment)
        if let filler = shapes[kind]?.filler, size > known {
            UnsafeMutableRawBufferPointer(rebasing: block[known...]).initializeMemory(as: UInt8.self, repeating: filler)
        }
        withUnsafeBytes(of: value) { bytes in
            block.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(size)))
        }
        block.storeBytes(of: UInt32(clamping: size), as: UInt32.self)
        // The block isn't empty.
        return UnsafePointer(block.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Value.self))
    }
}
