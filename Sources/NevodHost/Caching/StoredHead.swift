/// A stored response without its body, in the form that a file holds, and the requests that it is for.
///
/// The format, with all numbers in big-endian order: `1`, the protocol version (1 byte), the status (2), the times at which the
/// request was sent and the response arrived (8 each, nanoseconds since 1970), the digest of the values that Vary names (32), the
/// reason, the number of names in Vary (4) and the names, the number of header lines (4), and the name and value of each. Each
/// string is preceded by its length (4).
struct StoredHead: Sendable {
    let vary: VaryKey
    let version: HTTPResponse.Version
    let status: Int
    let reason: String
    let headers: HTTPHeaders
    let requestedAt: UnixTime
    let receivedAt: UnixTime

    init(_ response: StoredResponse, _ vary: VaryKey) {
        self.vary = vary
        version = response.version
        status = response.status
        reason = response.reason
        headers = response.headers
        requestedAt = response.requestedAt
        receivedAt = response.receivedAt
    }

    func response(_ body: [UInt8]) -> StoredResponse {
        let response = HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: .bytes([]))
        return StoredResponse(response, body: body, requestedAt: requestedAt, receivedAt: receivedAt)
    }
}

extension StoredHead {
    private static let form: UInt8 = 1
    private static let versions: [HTTPResponse.Version] = [.http10, .http11, .http2, .http3]

    var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.form, UInt8(truncatingIfNeeded: Self.versions.firstIndex(of: version) ?? 0)]
        func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
        func add(_ text: some Collection<UInt8>) {
            add(UInt32(clamping: text.count))
            bytes += text
        }
        add(UInt16(clamping: status))
        add(requestedAt.nanoseconds)
        add(receivedAt.nanoseconds)
        bytes += vary.values.bytes
        add(reason.utf8)
        add(UInt32(clamping: vary.names.count))
        for name in vary.names { add(name.utf8) }
        add(UInt32(clamping: headers.lines.count))
        for line in headers.lines {
            add(headers.storage[line.name])
            add(line.valueCount == 0 ? [] : headers.storage[line.value])
        }
        return bytes
    }

    /// - Returns: nil for bytes in any other format.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard Self.number(&rest, UInt8.self) == Self.form, let version = Self.number(&rest, UInt8.self),
            Self.versions.indices.contains(Int(version)), let status = Self.number(&rest, UInt16.self),
            (100...599).contains(status),
            let requestedAt = Self.number(&rest, Int64.self), let receivedAt = Self.number(&rest, Int64.self),
            let values = KeyedDigest(Self.take(&rest, KeyedDigest.size)), let reason = Self.text(&rest),
            let names = Self.list(&rest, { Self.text(&$0).map { String(decoding: $0, as: UTF8.self) } }),
            let lines = Self.list(&rest, { rest in Self.text(&rest).flatMap { name in Self.text(&rest).map { (name, $0) } } }),
            rest.isEmpty
        else { return nil }
        self.version = Self.versions[Int(version)]
        self.status = Int(status)
        self.reason = String(decoding: reason, as: UTF8.self)
        self.requestedAt = UnixTime(nanoseconds: requestedAt)
        self.receivedAt = UnixTime(nanoseconds: receivedAt)
        vary = VaryKey(names: names, values: values)
        var headers = HTTPHeaders()
        headers.reserveCapacity(bytes: bytes.count, lines: lines.count)
        for (name, value) in lines {
            name.withUnsafeBufferPointer { name in value.withUnsafeBufferPointer { headers.add(name, $0, by: .host) } }
        }
        self.headers = headers
    }

    private static func number<Number: FixedWidthInteger>(_ rest: inout ArraySlice<UInt8>, _ type: Number.Type) -> Number? {
        let count = MemoryLayout<Number>.size
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(Number.zero) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = number(&rest, UInt32.self), count <= rest.count else { return nil }
        return take(&rest, Int(count))
    }

    /// Takes bytes from the front; fewer than `count` at the end.
    private static func take(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private static func list<Element>(
        _ rest: inout ArraySlice<UInt8>, _ element: (inout ArraySlice<UInt8>) -> Element?
    ) -> [Element]? {
        guard let count = number(&rest, UInt32.self) else { return nil }
        var list: [Element] = []
        for _ in 0..<count {
            // Each element takes some bytes, so a count that is too large fails here.
            guard let next = element(&rest) else { return nil }
            list.append(next)
        }
        return list
    }
}
