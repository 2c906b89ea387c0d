internal import NevodPluginABI

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Provides the memory for what a plugin reads during a call. A check can replace it to put each input next to a forbidden page.
package protocol InputMemory: Sendable {
    /// Returns zeroed memory.
    ///
    /// - Parameter byteCount: at least 1.
    func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawBufferPointer
    /// Called once all inputs of a call are in place. May forbid writing from then on.
    func seal(_ block: UnsafeMutableRawBufferPointer)
    /// Called after the call with a block of ``allocate(byteCount:alignment:)``.
    func free(_ block: UnsafeMutableRawBufferPointer)
}

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

/// Puts inputs in separate pages, between two pages that can't be read or written. A plugin that reads beyond an input, or writes
/// to one, ends with SIGSEGV.
package struct GuardedMemory: InputMemory {
    /// The end of an input that touches a forbidden page. The other end has up to a page of zeros next to it.
    package enum Edge: Sendable {
        case end, start
    }

    private let edge: Edge
    private let isSealed: Bool
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// - Parameter isSealed: whether inputs can't be written during a call.
    package init(edge: Edge = .end, isSealed: Bool = true) {
        self.edge = edge
        self.isSealed = isSealed
    }

    package func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawBufferPointer {
        let pages = Self.pages(byteCount)
        let whole = mmap(nil, pages + 2 * Self.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let whole, whole != UnsafeMutableRawPointer(bitPattern: -1),
            mprotect(whole + Self.page, pages, PROT_READ | PROT_WRITE) == 0
        else { fatalError("no memory for an input of \(byteCount) bytes between guard pages") }
        // Every size that needs an alignment is a multiple of it, except a size that a check has shortened.
        let slack = edge == .end ? (pages - byteCount) & ~(alignment - 1) : 0
        return UnsafeMutableRawBufferPointer(start: whole + Self.page + slack, count: byteCount)
    }

    package func seal(_ block: UnsafeMutableRawBufferPointer) {
        guard isSealed, let start = Self.start(of: block) else { return }
        _ = mprotect(start, Self.pages(block.count), PROT_READ)
    }

    package func free(_ block: UnsafeMutableRawBufferPointer) {
        guard let start = Self.start(of: block) else { return }
        _ = munmap(start - Self.page, Self.pages(block.count) + 2 * Self.page)
    }

    private static func pages(_ byteCount: Int) -> Int { (byteCount + page - 1) / page * page }

    private static func start(of block: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawPointer? {
        guard let base = block.baseAddress else { return nil }
        return UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: base) / UInt(page) * UInt(page))
    }
}

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
        // The contract's alignment. A shortened struct's size may not be a multiple of it.
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
