internal import NevodPluginABI
internal import NevodSupport

/// Collects the edits of one call of `authorize`. Checks each edit as it arrives and copies it into a block of memory, because
/// the plugin still reads the request; applies all of them after the call, or none.
struct EditSink: ~Copyable {
    private enum Kind: UInt8 {
        case setHeader, addHeader, addQuery, addCookie
    }

    /// How many bytes precede an edit's name and value: its kind and two lengths.
    private static let recordHeader = 9

    private var memory: UnsafeMutableRawBufferPointer
    private var used = 0
    private var records = 0
    private var addsQuery = false
    private var ownsMemory = false
    private let instance: Unmanaged<SchemeInstance>
    private let target: SchemeTarget
    /// Nil if the scheme's needs don't allow it to replace the body.
    private let body: BodyShape?
    private let work: Unmanaged<RequestWork>?
    private var rare: Rare?

    /// The results that few calls have. Kept apart, so that other calls pay for one reference only.
    private final class Rare {
        var refusal: (what: String, problem: String)?
        var replacement: BodyReplacement?
        /// Freed after the call, because `body_free` may take a lock that the scheme holds when it calls `wrap_body`.
        var refusedWrappings: [BodyWrapping] = []
    }

    /// - Parameters:
    ///   - memory: on the caller's stack; large enough for most schemes, so that most calls allocate nothing.
    ///   - instance: lives longer than the sink.
    ///   - body: the request's body; nil if the scheme's needs don't allow it to replace the body.
    ///   - work: the request's work; lives longer than the sink, too.
    init(
        _ memory: UnsafeMutableRawBufferPointer, of instance: SchemeInstance, _ body: BodyShape?, _ work: RequestWork? = nil
    ) {
        self.memory = memory
        self.instance = Unmanaged.passUnretained(instance)
        target = instance.target
        self.body = body
        self.work = work.map(Unmanaged.passUnretained)
    }

    deinit {
        UnsafeMutableRawBufferPointer(rebasing: memory[..<used]).wipe()
        if ownsMemory { memory.deallocate() }
    }

    /// The contract's table for this sink. Each call stores its generation in the table's `host`.
    static var table: nevod_edits {
        nevod_edits(
            struct_size: UInt32(MemoryLayout<nevod_edits>.size), reserved: 0, host: nil,
            set_header: { EditSink.record(.setHeader, "set_header", $0, $1, $2) },
            add_header: { EditSink.record(.addHeader, "add_header", $0, $1, $2) },
            add_query: { EditSink.record(.addQuery, "add_query", $0, $1, $2) },
            add_cookie: { EditSink.record(.addCookie, "add_cookie", $0, $1, $2) },
            replace_body: { host, bytes in
                guard let sink = PluginCall.edits(host, "replace_body") else { return Int32(NEVOD_UNSUPPORTED) }
                return sink.pointee.replaceBody(bytes)
            },
            wrap_body: { host, length, wrapping in
                guard let sink = PluginCall.edits(host, "wrap_body") else { return Int32(NEVOD_UNSUPPORTED) }
                return sink.pointee.wrapBody(length, wrapping)
            })
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
            let known = name.count <= NEVOD_LIMIT_EDIT_NAME ? name : .empty
            return refuse(Self.describe(kind, known), problem)
        }
        let name = name.buffer
        let value = value.buffer
        let size = Self.recordHeader + name.count + value.count
        if size > memory.count - used { grow(by: size) }
        records += 1
        addsQuery = addsQuery || kind == .addQuery
        guard let record = memory.baseAddress?.advanced(by: used) else { return Int32(NEVOD_INTERNAL) }
        record.storeBytes(of: kind.rawValue, as: UInt8.self)
        record.storeBytes(of: UInt32(name.count), toByteOffset: 1, as: UInt32.self)
        record.storeBytes(of: UInt32(value.count), toByteOffset: 5, as: UInt32.self)
        if let bytes = name.baseAddress { (record + Self.recordHeader).copyMemory(from: bytes, byteCount: name.count) }
        if let bytes = value.baseAddress {
            (record + Self.recordHeader + name.count).copyMemory(from: bytes, byteCount: value.count)
        }
        used += size
        return Int32(NEVOD_OK)
    }

    private mutating func grow(by count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(memory.count * 2, used + count), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
        UnsafeMutableRawBufferPointer(rebasing: memory[..<used]).wipe()
        if ownsMemory { memory.deallocate() }
        memory = larger
        ownsMemory = true
    }

    var refusal: (what: String, problem: String)? { rare?.refusal }

    private mutating func refuse(_ what: String, _ problem: String) -> Int32 {
        withRare { if $0.refusal == nil { $0.refusal = (what, problem) } }
        return Int32(NEVOD_UNSUPPORTED)
    }

    private mutating func withRare(_ change: (Rare) -> Void) {
        let known = rare ?? Rare()
        change(known)
        rare = known
    }

    // MARK: The body

    private mutating func replaceBody(_ bytes: nevod_bytes) -> Int32 {
        if let problem = replacementProblem(bytes) { return refuse("the body", problem) }
        withRare { $0.replacement = .bytes(Array(bytes.buffer)) }
        return Int32(NEVOD_OK)
    }

    private mutating func wrapBody(_ length: UInt64, _ handle: UnsafeMutableRawPointer?) -> Int32 {
        let wrapping = BodyWrapping(handle, of: instance.takeUnretainedValue())
        if let problem = wrappingProblem(length) {
            withRare { $0.refusedWrappings.append(wrapping) }
            return refuse("the body", problem)
        }
        withRare { $0.replacement = .wrapping(wrapping, length: Int64(length)) }
        return Int32(NEVOD_OK)
    }

    private func bodyProblem() -> String? {
        if target == .proxy { return Self.onlyForOrigins }
        if body == nil { return "its needs don't name NEVOD_NEED_REPLACE_BODY" }
        return rare?.replacement == nil ? nil : "it has replaced the body already in this call"
    }

    private func replacementProblem(_ bytes: nevod_bytes) -> String? {
        if let problem = bodyProblem() { return problem }
        if body?.kind == Int32(NEVOD_BODY_STREAM) { return "the body is a stream, which only wrap_body can change" }
        guard bytes.count <= UInt64(NEVOD_LIMIT_BODY) else {
            return "it has \(bytes.count) bytes, more than \(NEVOD_LIMIT_BODY)"
        }
        return bytes.count == 0 || bytes.data != nil ? nil : "it has a length but no data"
    }

    private func wrappingProblem(_ length: UInt64) -> String? {
        if let problem = bodyProblem() { return problem }
        guard instance.takeUnretainedValue().scheme.table.pointee.body_piece != nil else { return "the scheme has no body_piece" }
        if body?.kind == Int32(NEVOD_BODY_NONE) { return "the request has no body, so wrap_body has nothing to wrap" }
        if body?.length == nil { return "its length is not known in advance, so wrap_body can't announce one" }
        return length <= UInt64(Int64.max) ? nil : "the announced length of \(length) bytes is too large"
    }

    // MARK: Checks

    private func problem(_ kind: Kind, _ name: nevod_bytes, _ value: nevod_bytes) -> String? {
        guard name.count <= NEVOD_LIMIT_EDIT_NAME else {
            return "its name has \(name.count) bytes, more than \(NEVOD_LIMIT_EDIT_NAME)"
        }
        guard value.count <= NEVOD_LIMIT_EDIT_VALUE else {
            return "its value has \(value.count) bytes, more than \(NEVOD_LIMIT_EDIT_VALUE)"
        }
        guard used + Int(name.count) + Int(value.count) <= Int(NEVOD_LIMIT_EDITS) + records * Self.recordHeader else {
            return "the edits of this call have more than \(NEVOD_LIMIT_EDITS) bytes"
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
            let isForProxy = TransportHeader.areEqual(name.buffer, "proxy-authorization")
            if target == .proxy { return isForProxy ? nil : Self.onlyForOrigins }
            if isForProxy { return "it is meant for a proxy, but the target is the origin" }
            return TransportHeader.has(name.buffer) ? "only the host writes it, because it decides where the request ends" : nil
        case .addQuery where target == .proxy, .addCookie where target == .proxy: return Self.onlyForOrigins
        case .addQuery:
            return name.count == 0 ? "its name is empty" : nil
        case .addCookie:
            // Clients return whatever a server set (RFC 6265 §5.2, §5.4), even bytes that it should not have set (§4.1.1).
            guard name.count > 0, name.buffer.allSatisfy({ $0.isCookieByte && $0 != UInt8(ascii: "=") }) else {
                return "its name contains a byte that is not allowed in cookies (RFC 6265 §5.2)"
            }
            return value.buffer.allSatisfy { $0.isCookieByte }
                ? nil : "its value contains a byte that is not allowed in cookies (RFC 6265 §5.2)"
        }
    }

    private static let onlyForOrigins = "it is meant for the origin, but the target is a proxy"

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
        if let replacement = rare?.replacement {
            request.replaceBody(replacement.body(of: request.body, work?.takeUnretainedValue()))
        }
        // Even a request that is authorized again must carry each item only once.
        if addsQuery { forEach { kind, name, _ in if kind == .addQuery { request.removeOwnQueryItems(name) } } }
        // Set together, so that two cookies with the same name and different paths don't replace each other.
        var cookies: [(name: String, value: String)] = []
        forEach { kind, name, value in
            switch kind {
            case .setHeader where target == .proxy, .addHeader where target == .proxy:
                request.proxyAuthorization = String(decoding: value, as: UTF8.self)
            case .setHeader: request.headers.set(name, value, by: request.provenance)
            case .addHeader: request.headers.add(name, value, by: request.provenance)
            case .addQuery: request.addQueryItem(name, value)
            case .addCookie: cookies.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            }
        }
        try request.setCookies(cookies)
    }

    @inline(__always)
    private borrowing func forEach(
        _ body: (Kind, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<used])
        var offset = 0
        while offset < used {
            guard let kind = Kind(rawValue: bytes[offset]) else { return }
            let nameCount = Int(bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt32.self))
            let valueCount = Int(bytes.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self))
            offset += Self.recordHeader
            body(kind, Self.slice(bytes, offset, nameCount), Self.slice(bytes, offset + nameCount, valueCount))
            offset += nameCount + valueCount
        }
    }

    private static func slice(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]).assumingMemoryBound(to: UInt8.self)
    }
}
