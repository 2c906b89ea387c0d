internal import NevodPluginABI
internal import NevodSupport

// The bytes, structs and flags of the contract, as Swift values.

extension nevod_bytes {
    /// The bytes; valid as long as the contract lends them.
    var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: count == 0 ? nil : data, count: data == nil ? 0 : Int(clamping: count))
    }

    /// One line of text to show to people: at most `NEVOD_LIMIT_MESSAGE` bytes, with invalid UTF-8 and control characters
    /// replaced.
    var message: String {
        let text = String(decoding: buffer.prefix(Int(NEVOD_LIMIT_MESSAGE)), as: UTF8.self)
        let isUnsafe = { (scalar: Unicode.Scalar) in scalar.isUnsafeAtTerminal || scalar == "\t" }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

    /// One line of a log: at most `NEVOD_LIMIT_MESSAGE` bytes. Invalid UTF-8 and control characters other than tabs are escaped,
    /// not replaced: somebody may search the log for the bytes that a scheme signed.
    var logLine: String { TerminalText.safe(buffer.prefix(Int(NEVOD_LIMIT_MESSAGE))) }

    init(_ buffer: UnsafeBufferPointer<UInt8>) {
        self.init(data: buffer.baseAddress, count: UInt64(buffer.count))
    }

    init(_ buffer: UnsafeRawBufferPointer) {
        self.init(buffer.assumingMemoryBound(to: UInt8.self))
    }

    init(_ string: StaticString) {
        self.init(data: string.utf8Start, count: UInt64(string.utf8CodeUnitCount))
    }

    static var empty: nevod_bytes { nevod_bytes(data: nil, count: 0) }
}

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

/// A struct of the contract that a plugin fills. Such structs grow at their end: a plugin's may be shorter or longer than the
/// host's.
protocol ContractTable {
    /// Sets all fields to zero. In fields that a later revision appended, zero means absent.
    init()
}

extension nevod_plugin: ContractTable {}
extension nevod_scheme: ContractTable {}
extension nevod_setting: ContractTable {}
extension nevod_needs: ContractTable {}
extension nevod_token: ContractTable {}
extension nevod_flow_request: ContractTable {}
extension nevod_question: ContractTable {}
extension nevod_listen: ContractTable {}

extension ContractTable {
    /// Returns the size that the struct itself states. (`pointee` would read past the end of a shorter struct.)
    static func size(of pointer: UnsafePointer<Self>) -> UInt32 { UnsafeRawPointer(pointer).load(as: UInt32.self) }

    /// Copies the fields that a plugin's struct has and that this host knows; the others stay zero.
    ///
    /// - Parameter minimum: the size in the struct's first frozen revision.
    /// - Returns: nil if the struct is shorter.
    init?(copying pointer: UnsafePointer<Self>, minimum: UInt32) {
        let size = Self.size(of: pointer)
        guard size >= minimum else { return nil }
        self.init()
        withUnsafeMutableBytes(of: &self) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), copy.count)))
        }
    }
}

/// The contract's rule for flags: the position of an unknown bit says whether it is critical, ignorable or never assigned.
enum ContractFlags {
    /// - Returns: the unknown bits that this host must not ignore, as words for a message; nil if there are none.
    static func unsupported(_ flags: UInt32, known: [Int]) -> String? {
        let known = known.reduce(into: UInt32(0)) { $0 |= UInt32(truncatingIfNeeded: $1) }
        let unknown = flags & ~known & ~NEVOD_IGNORABLE_BITS
        return unknown == 0 ? nil : "the bits 0x\(String(unknown, radix: 16))"
    }
}
