internal import COpenSSL
internal import NevodPluginABI
internal import NevodSupport

/// The parts of a request that a scheme needs, which ``withTable(_:)`` lays out as the contract's `nevod_view`.
struct RequestViewBuilder: ~Copyable {
    private let scheme: Origin.Scheme
    private let targetKind: Int32
    private let method: String
    private let authority: String
    private let requestTarget: String
    private let headers: HTTPHeaders
    private let body: HTTPBody
    private let showsBody: Bool
    private let digests: Digests
    private let attempt: UInt32
    private let time: Int64
    private let showsRandom: Bool
    private let useCount: UInt64
    private let state: Secret?
    private let parameters: ParameterSet?

    private enum Digests {
        case none
        case computed([DigestAlgorithm])
        case known(StreamDigests)

        var count: Int {
            switch self {
            case .none: 0
            case .computed(let algorithms): algorithms.count
            case .known(let digests): digests.values.count
            }
        }
    }

    /// - Parameters:
    ///   - time: nanoseconds since 1970.
    ///   - use: the state and its use count; a scheme sees them only if it needs them.
    ///   - parameters: nil if the scheme declares none.
    ///   - streamDigests: the digests of a streamed body; nil if it can be read only once.
    init(
        of request: borrowing HTTPRequest, for target: SchemeTarget, _ needs: SchemeNeeds, attempt: Int, at time: Int64,
        _ use: StateUse, _ parameters: ParameterSet?, _ streamDigests: StreamDigests?
    ) {
        scheme = request.origin.scheme
        targetKind = target.kind
        (method, authority, requestTarget) = Self.requestLine(of: request, for: target)
        headers = needs.headers && target == .origin ? request.headers : HTTPHeaders()
        body = target == .proxy ? .none : request.body
        digests =
            switch body {
            case .bytes(let bytes) where !bytes.isEmpty && !needs.digests.isEmpty: .computed(needs.digests)
            case .stream(let stream) where stream.length != 0: streamDigests.map(Digests.known) ?? .none
            default: .none
            }
        self.attempt = UInt32(clamping: attempt)
        self.time = time
        showsBody = needs.body
        showsRandom = needs.random
        useCount = needs.useCount ? use.count : 0
        state = needs.state ? use.state : nil
        self.parameters = parameters
    }

    /// The request line as its recipient will see it. A proxy gets the absolute form, or is asked for a tunnel (RFC 9112 §3.2).
    private static func requestLine(
        of request: borrowing HTTPRequest, for target: SchemeTarget
    ) -> (method: String, authority: String, target: String) {
        switch (target, request.origin.scheme) {
        case (.origin, _): return (request.method.rawValue, authority(of: request), request.target)
        case (.proxy, .http): return (request.method.rawValue, request.origin.authority, request.url)
        case (.proxy, .https):
            let origin = request.origin
            let isDefault = origin.port == origin.scheme.defaultPort
            let authority = isDefault ? "\(origin.authority):\(origin.port)" : origin.authority
            return ("CONNECT", authority, authority)
        }
    }

    /// The Host line, even if the caller wrote it. An HTTP/2 connection sends it as `:authority` (RFC 9113 §8.3.1).
    private static func authority(of request: borrowing HTTPRequest) -> String {
        let headers = request.headers
        // A line that the host wrote is the origin's authority, which needs no copy.
        guard let line = headers.firstIndex(of: "Host"), headers.lines[line].provenance != .host, let own = headers["Host"] else {
            return request.origin.authority
        }
        return own
    }

    /// Calls `call` with the contract's table. Headers and body are borrowed from the request. The rest is copied into one block,
    /// which is on the stack if it fits in 1024 bytes. The state in the block is secret, so it is wiped afterwards.
    ///
    /// - Returns: what `call` returns, or `NEVOD_INTERNAL` if libcrypto fails to make a digest or random bytes.
    func withTable(_ call: (UnsafePointer<nevod_view>) -> Int32) -> Int32 {
        withRequestBytes { headerBytes, bodyBytes in
            withUnsafeTemporaryAllocation(byteCount: scratchSize, alignment: MemoryLayout<nevod_pair>.alignment) { memory in
                guard var scratch = ViewScratch(memory) else { return Int32(NEVOD_INTERNAL) }
                // The pairs come first: they are the only part that has to be aligned.
                let headerPairs = scratch.pairs(headers.count)
                let digestPairs = scratch.pairs(digests.count)
                let parameterPairs = scratch.pairs(parameters?.values.count ?? 0)
                fill(headerPairs, from: headerBytes)
                guard fill(digestPairs, from: bodyBytes, &scratch),
                    let random = showsRandom ? scratch.random(Self.randomSize) : .empty
                else { return Int32(NEVOD_INTERNAL) }
                if let parameters { fill(parameterPairs, from: parameters, &scratch) }
                let stateCopy = state.map { scratch.copy($0) }
                defer { stateCopy?.wipe() }
                var table = nevod_view(
                    struct_size: UInt32(MemoryLayout<nevod_view>.size), target_kind: targetKind, method: scratch.copy(method),
                    scheme: scheme == .https ? nevod_bytes("https") : nevod_bytes("http"), authority: scratch.copy(authority),
                    target: scratch.copy(requestTarget), headers: headerPairs.baseAddress,
                    header_count: UInt32(headerPairs.count),
                    body_kind: body.kind, body_length: body.length.map(UInt64.init) ?? UInt64.max,
                    body: showsBody ? nevod_bytes(bodyBytes) : .empty, digests: digestPairs.baseAddress,
                    digest_count: UInt32(digestPairs.count), attempt: attempt, unix_time_ns: time, random: random,
                    use_count: useCount, state: stateCopy.map { nevod_bytes(UnsafeRawBufferPointer($0)) } ?? .empty,
                    parameters: parameterPairs.baseAddress, parameter_count: UInt32(parameterPairs.count), reserved: 0)
                return call(&table)
            }
        }
    }

    private static let randomSize = 32

    /// The size of the block that ``withTable(_:)`` fills; at least one byte, so that the block has an address.
    @inline(__always)
    private var scratchSize: Int {
        (headers.count + digests.count) * MemoryLayout<nevod_pair>.stride + digests.count * DigestAlgorithm.largestSize
            + method.utf8.count + authority.utf8.count + requestTarget.utf8.count
            + (showsRandom ? Self.randomSize : 0) + (state?.count ?? 0)
            + (parameters.map { $0.values.count * MemoryLayout<nevod_pair>.stride + $0.byteCount } ?? 0) + 1
    }

    private func fill(
        _ pairs: UnsafeMutableBufferPointer<nevod_pair>, from parameters: ParameterSet, _ scratch: inout ViewScratch
    ) {
        for (index, parameter) in parameters.values.enumerated() {
            pairs.initializeElement(
                at: index, to: nevod_pair(name: scratch.copy(parameter.name), value: scratch.copy(parameter.value)))
        }
    }

    /// Borrows the lines of the headers and the bytes of the body, for the call.
    @inline(__always)
    private func withRequestBytes(
        _ call: (_ headers: UnsafeBufferPointer<UInt8>, _ body: UnsafeBufferPointer<UInt8>) -> Int32
    ) -> Int32 {
        headers.storage.withUnsafeBufferPointer { headers in
            guard case .bytes(let bytes) = body else { return call(headers, UnsafeBufferPointer(start: nil, count: 0)) }
            return bytes.withUnsafeBufferPointer { call(headers, $0) }
        }
    }

    @inline(__always)
    private func fill(_ pairs: UnsafeMutableBufferPointer<nevod_pair>, from bytes: UnsafeBufferPointer<UInt8>) {
        for (index, line) in headers.lines.enumerated() {
            // A line without a value ends after its name: the range of its value may lie outside the block.
            let value = line.valueCount == 0 ? .empty : nevod_bytes(UnsafeBufferPointer(rebasing: bytes[line.value]))
            let name = nevod_bytes(UnsafeBufferPointer(rebasing: bytes[line.name]))
            pairs.initializeElement(at: index, to: nevod_pair(name: name, value: value))
        }
    }

    /// Writes the digests. Computes them from the body, unless the body is a stream: then they were computed before.
    ///
    /// - Returns: false if libcrypto fails.
    @inline(__always)
    private func fill(
        _ pairs: UnsafeMutableBufferPointer<nevod_pair>, from body: UnsafeBufferPointer<UInt8>, _ scratch: inout ViewScratch
    ) -> Bool {
        switch digests {
        case .none: break
        case .computed(let algorithms):
            for (index, algorithm) in algorithms.enumerated() {
                let value = scratch.bytes(algorithm.size)
                guard let digest = BodyDigest(algorithm), digest.update(body), digest.finish(into: value) else { return false }
                pairs.initializeElement(
                    at: index, to: nevod_pair(name: nevod_bytes(algorithm.name), value: nevod_bytes(UnsafeBufferPointer(value))))
            }
        case .known(let digests):
            for (index, (algorithm, value)) in digests.values.enumerated() {
                pairs.initializeElement(
                    at: index, to: nevod_pair(name: nevod_bytes(algorithm.name), value: scratch.copy(value)))
            }
        }
        return true
    }
}

/// Divides one block of memory into pieces. The caller allocates a block of the right size.
private struct ViewScratch {
    private var next: UnsafeMutableRawPointer
    private let end: UnsafeMutableRawPointer

    @inline(__always)
    init?(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return nil }
        next = start
        end = start + memory.count
    }

    @inline(__always)
    private mutating func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        precondition(count <= end - next)
        defer { next += count }
        return UnsafeMutableRawBufferPointer(start: next, count: count)
    }

    /// Uninitialised pairs. Must be taken before any bytes: the block is aligned for pairs, a piece of bytes need not be.
    @inline(__always)
    mutating func pairs(_ count: Int) -> UnsafeMutableBufferPointer<nevod_pair> {
        guard count > 0 else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        return take(count * MemoryLayout<nevod_pair>.stride).bindMemory(to: nevod_pair.self)
    }

    /// Uninitialised bytes.
    @inline(__always)
    mutating func bytes(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        take(count).bindMemory(to: UInt8.self)
    }

    @inline(__always)
    mutating func copy(_ text: String) -> nevod_bytes {
        let place = take(text.utf8.count)
        // Unlike withUTF8, this needs no mutable copy of the string, which would be retained.
        let isCopied: Void? = text.utf8.withContiguousStorageIfAvailable { place.copyMemory(from: UnsafeRawBufferPointer($0)) }
        if isCopied == nil { place.copyBytes(from: text.utf8) }
        return nevod_bytes(UnsafeRawBufferPointer(place))
    }

    mutating func copy(_ bytes: [UInt8]) -> nevod_bytes {
        let place = take(bytes.count)
        place.copyBytes(from: bytes)
        return nevod_bytes(UnsafeRawBufferPointer(place))
    }

    /// The caller wipes the copy.
    mutating func copy(_ secret: Secret) -> UnsafeMutableRawBufferPointer {
        let place = take(secret.count)
        secret.withUnsafeBytes { place.copyMemory(from: $0) }
        return place
    }

    /// Returns nil if libcrypto fails.
    mutating func random(_ count: Int) -> nevod_bytes? {
        let place = bytes(count)
        return RAND_bytes(place.baseAddress, Int32(count)) == 1 ? nevod_bytes(UnsafeBufferPointer(place)) : nil
    }
}

extension HTTPBody {
    var kind: Int32 {
        switch self {
        case .none: Int32(NEVOD_BODY_NONE)
        case .bytes(let bytes): Int32(bytes.isEmpty ? NEVOD_BODY_NONE : NEVOD_BODY_BYTES)
        case .stream(let stream): Int32(stream.length == 0 ? NEVOD_BODY_NONE : NEVOD_BODY_STREAM)
        }
    }
}
