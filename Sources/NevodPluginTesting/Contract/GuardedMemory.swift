#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Inputs in pages of their own, between two pages that can't be read or written: a plugin that reads beyond an input, or writes to
/// one, ends in SIGSEGV.
package struct GuardedMemory: InputMemory {
    /// The end of an input that touches a forbidden page. The other end has up to a page of zeros beside it.
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
        // Every size that needs an alignment is a multiple of it, except for one that a check has shortened.
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
