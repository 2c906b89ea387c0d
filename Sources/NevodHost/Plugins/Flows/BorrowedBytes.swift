internal import NevodPluginABI
internal import NevodSupport

/// Memory that is lent to a plugin for a call: valid until this object is freed, and wiped then, since it contains tokens and
/// a person's answers.
final class BorrowedBytes {
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    deinit {
        for block in blocks {
            block.wipe()
            block.deallocate()
        }
    }

    func lend(_ bytes: some Collection<UInt8>) -> nevod_bytes {
        guard !bytes.isEmpty else { return .empty }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        block.copyBytes(from: bytes)
        blocks.append(block)
        return nevod_bytes(UnsafeRawBufferPointer(block))
    }

    func lend(_ text: String) -> nevod_bytes { lend(Array(text.utf8)) }
    func lend(_ secret: Secret) -> nevod_bytes { secret.withUnsafeBytes { lend($0) } }

    func lend(_ pairs: [(nevod_bytes, nevod_bytes)]) -> UnsafePointer<nevod_pair>? {
        lend(pairs.map { nevod_pair(name: $0.0, value: $0.1) })
    }

    func lend(_ headers: HTTPHeaders) -> UnsafePointer<nevod_pair>? {
        lend(headers.map { (lend($0.name), lend($0.value)) })
    }

    func lend<Value>(_ value: Value) -> UnsafePointer<Value>? { lend([value]) }

    /// - Parameter values: of a trivial type, which needs no deinitialisation.
    private func lend<Value>(_ values: [Value]) -> UnsafePointer<Value>? {
        guard !values.isEmpty else { return nil }
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: values.count * MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
        blocks.append(block)
        let place = block.bindMemory(to: Value.self)
        _ = place.initialize(from: values)
        return place.baseAddress.map { UnsafePointer($0) }
    }
}
