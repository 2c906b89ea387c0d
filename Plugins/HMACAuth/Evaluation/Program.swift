internal import NevodPluginKit

/// The parts of a recipe that requests read, in memory that isn't reference counted, because one signature reads them a hundred
/// times.
struct Program: @unchecked Sendable {
    let steps: UnsafeBufferPointer<Recipe.Step>
    let parts: UnsafeBufferPointer<Recipe.Part>
    let filters: UnsafeBufferPointer<Filter>
    let bytes: UnsafeBufferPointer<UInt8>
    /// For each slot, whether to refuse control bytes in decoded text.
    let isStrict: UnsafeBufferPointer<Bool>
    /// For each slot, whether it may hold bytes that aren't text.
    let isRaw: UnsafeBufferPointer<Bool>

    init(_ recipe: Recipe) {
        steps = Self.copy(recipe.steps)
        parts = Self.copy(recipe.parts)
        filters = Self.copy(recipe.filters)
        bytes = Self.copy(recipe.bytes)
        isStrict = Self.copy(recipe.slots.map { $0.isStrict })
        isRaw = Self.copy(recipe.rawSlots)
    }

    private static func copy<Element>(_ array: [Element]) -> UnsafeBufferPointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: array.count)
        _ = memory.initialize(fromContentsOf: array)
        return UnsafeBufferPointer(memory)
    }

    /// The owner calls this once.
    func deallocate() {
        steps.deallocate()
        parts.deallocate()
        filters.deallocate()
        bytes.deallocate()
        isStrict.deallocate()
        isRaw.deallocate()
    }

    func literal(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }
}

extension Recipe {
    /// For each slot, whether it may hold bytes that aren't text, so that a header can't carry them.
    fileprivate var rawSlots: [Bool] {
        var isRaw = [Bool](repeating: false, count: slots.count)
        for step in steps {
            switch step.action {
            case .compute(let slot, let source, let chain): if makesRaw(source, chain, isRaw) { isRaw[slot] = true }
            case .join(let slot, let range), .leave(let slot, let range):
                if range.contains(where: { self.isRaw(parts[$0], isRaw) }) { isRaw[slot] = true }
            case .refuse, .send: break
            }
        }
        return isRaw
    }

    private func isRaw(_ part: Part, _ isRaw: [Bool]) -> Bool {
        switch part {
        case .literal, .setting(.key): false
        case .slot(let slot): isRaw[slot]
        case .request(let part): part == .body || part == .host || part == .hostname
        case .setting: true
        }
    }

    private func makesRaw(_ source: Source, _ chain: Range<Int>, _ isRaw: [Bool]) -> Bool {
        if let last = chain.last {
            switch filters[last] {
            case .encode, .percentEncode, .length, .reencode: return false
            default: return true
            }
        }
        switch source {
        case .time: return false
        case .nonce(.bytes): return true
        case .nonce: return false
        case .part(let part): return self.isRaw(part, isRaw)
        default: return true
        }
    }
}
