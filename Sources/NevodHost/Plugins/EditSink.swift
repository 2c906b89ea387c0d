internal import NevodPluginABI
internal import NevodSupport

/// Collects the edits of one call of `authorize`. Checks each edit as it arrives and copies it into a block of memory, because
/// the plugin still reads the request; applies all of them after the call, or none.
struct EditSink: ~Copyable {
    private enum Kind: UInt8 {
        case setHeader, addHeader, addQuery, addCookie
    }

    /// The most bytes of one value.
    static let largestValue = 64 << 10
    /// The most bytes of all edits of one call.
    static let largestCall = 256 << 10
    private static let longestName = 256

    /// The bytes of an edit before its name and value: its kind and two lengths.
    private static let recordHeader = 9

    private var memory: UnsafeMutableRawBufferPointer
    private var used = 0
    private var records = 0
    private var ownsMemory = false
    private let target: SchemeTarget
    private(set) var refusal: (what: String, problem: String)?

    /// - Parameter memory: on the caller's stack; large enough for most schemes, so that most calls allocate nothing.
    init(_ memory: UnsafeMutableRawBufferPointer, target: SchemeTarget) {
        self.memory = memory
        self.target = target
    }

    deinit {
        UnsafeMutableRawBufferPointer(rebasing: memory[..<used]).wipe()
        if ownsMemory { memory.deallocate() }
    }

    /// The contract's table, whose `host` each call sets to its generation.
    static var table: nevod_edits {
        nevod_edits(
            struct_size: UInt32(MemoryLayout<nevod_edits>.size), reserved: 0, host: nil,
            set_header: { EditSink.record(.setHeader, "set_header", $0, $1, $2) },
            add_header: { EditSink.record(.addHeader, "add_header", $0, $1, $2) },
            add_query: { EditSink.record(.addQuery, "add_query", $0, $1, $2) },
            add_cookie: { EditSink.record(.addCookie, "add_cookie", $0, $1, $2) },
            replace_body: { _, _ in Int32(NEVOD_UNSUPPORTED) }, wrap_body: { _, _, _ in Int32(NEVOD_UNSUPPORTED) })
    }

    private static func record(
        _ kind: Kind, _ function: StaticString, _ host: UnsafeMutableRawPointer?, _ name: nevod_bytes, _ value: nevod_bytes
    ) -> Int32 {
        guard let sink = PluginCall.edits(host, function) else { return Int32(NEVOD_UNSUPPORTED) }
        return sink.pointee.record(kind, name, value)
    }

    private mutating func record(_ kind: Kind, _ name: nevod_bytes, _ value: nevod_bytes) -> Int32 {
        if let problem = problem(kind, name, value) {
            // The name is read only if its length is within the limit.
            let known = name.count <= Self.longestName ? name : .empty
            if refusal == nil { refusal = (Self.describe(kind, known), problem) }
            return Int32(NEVOD_UNSUPPORTED)
        }
        let name = name.buffer
        let value = value.buffer
        let size = Self.recordHeader + name.count + value.count
        if size > memory.count - used { grow(by: size) }
        records += 1
        memory[used] = kind.rawValue
        memory.storeBytes(of: UInt32(name.count), toByteOffset: used + 1, as: UInt32.self)
        memory.storeBytes(of: UInt32(value.count), toByteOffset: used + 5, as: UInt32.self)
        used += Self.recordHeader
        append(name)
        append(value)
        return Int32(NEVOD_OK)
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        memory.baseAddress?.advanced(by: used).copyMemory(from: source, byteCount: bytes.count)
        used += bytes.count
    }

    private mutating func grow(by count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(memory.count * 2, used + count), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
        UnsafeMutableRawBufferPointer(rebasing: memory[..<used]).wipe()
        if ownsMemory { memory.deallocate() }
        memory = larger
        ownsMemory = true
    }

    // MARK: Checks

    private func problem(_ kind: Kind, _ name: nevod_bytes, _ value: nevod_bytes) -> String? {
        guard name.count <= Self.longestName else {
            return "its name has \(name.count) bytes, more than \(Self.longestName)"
        }
        guard value.count <= Self.largestValue else {
            return "its value has \(value.count) bytes, more than \(Self.largestValue)"
        }
        guard used + Int(name.count) + Int(value.count) <= Self.largestCall + records * Self.recordHeader else {
            return "the edits of this call have more than \(Self.largestCall) bytes"
        }
        guard name.count == 0 || name.data != nil, value.count == 0 || value.data != nil else {
            return "it has a length but no data"
        }
        switch kind {
        case .setHeader, .addHeader:
            guard HTTPSyntax.isToken(name.buffer) else { return "its name is not a token (RFC 9110 §5.6.2)" }
            guard HTTPSyntax.isFieldValue(value.buffer) else {
                return "its value contains a control character, such as a line break"
            }
            let isForProxy = name.count == 19 && isOne(of: "proxy-authorization", name)
            if target == .proxy { return isForProxy ? nil : Self.onlyForOrigins }
            if isForProxy { return "it is meant for a proxy, but the target is the origin" }
            return belongsToTransport(name) ? "only the host writes it, because it decides where the request ends" : nil
        case .addQuery where target == .proxy, .addCookie where target == .proxy: return Self.onlyForOrigins
        case .addQuery:
            return name.count == 0 ? "its name is empty" : nil
        case .addCookie:
            // Clients return what a server set (RFC 6265 §5.2, §5.4), which may be more than it should set (§4.1.1).
            guard name.count > 0, name.buffer.allSatisfy({ Self.isKeptInCookie($0) && $0 != UInt8(ascii: "=") }) else {
                return "its name contains a byte that is not allowed in cookies (RFC 6265 §5.2)"
            }
            return value.buffer.allSatisfy(Self.isKeptInCookie)
                ? nil : "its value contains a byte that is not allowed in cookies (RFC 6265 §5.2)"
        }
    }

    private static func isKeptInCookie(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: ";")
    }

    private static let onlyForOrigins = "it is meant for the origin, but the target is a proxy"

    /// Whether a header frames the message or controls the connection (RFC 9110 §7.6.1, RFC 9112 §6).
    private func belongsToTransport(_ name: nevod_bytes) -> Bool {
        switch name.count {
        case 2: isOne(of: "te", name)
        case 4: isOne(of: "host", name)
        case 6: isOne(of: "expect", name)
        case 7: isOne(of: "upgrade", name) || isOne(of: "trailer", name)
        case 10: isOne(of: "connection", name) || isOne(of: "keep-alive", name)
        case 14: isOne(of: "content-length", name)
        case 16: isOne(of: "proxy-connection", name)
        case 17: isOne(of: "transfer-encoding", name)
        default: false
        }
    }

    private func isOne(of known: StaticString, _ name: nevod_bytes) -> Bool {
        HTTPSyntax.namesEqual(name.buffer, UnsafeBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount))
    }

    private static func describe(_ kind: Kind, _ name: nevod_bytes) -> String {
        let name = "\"\(String(name.message.prefix(64)))\""
        return switch kind {
        case .setHeader, .addHeader: "the header \(name)"
        case .addQuery: "the query item \(name)"
        case .addCookie: "the cookie \(name)"
        }
    }

    // MARK: Applying

    /// - Parameter request: its `provenance` names the scheme, as the author of the edits.
    borrowing func apply(to request: inout HTTPRequest) throws(InvalidRequestError) {
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<used])
        var offset = 0
        // Set together, so that two cookies of one name, with different paths, don't replace each other.
        var cookies: [(name: String, value: String)] = []
        while offset < used {
            guard let kind = Kind(rawValue: bytes[offset]) else { return }
            let nameCount = Int(bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt32.self))
            let valueCount = Int(bytes.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self))
            offset += Self.recordHeader
            let name = Self.slice(bytes, offset, nameCount)
            let value = Self.slice(bytes, offset + nameCount, valueCount)
            offset += nameCount + valueCount
            switch kind {
            case .setHeader where target == .proxy, .addHeader where target == .proxy:
                request.proxyAuthorization = String(decoding: value, as: UTF8.self)
            case .setHeader: request.headers.set(name, value, by: request.provenance)
            case .addHeader: request.headers.add(name, value, by: request.provenance)
            case .addQuery: request.appendQueryItem(name, value)
            case .addCookie: cookies.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            }
        }
        try request.setCookies(cookies)
    }

    private static func slice(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]).assumingMemoryBound(to: UInt8.self)
    }
}
