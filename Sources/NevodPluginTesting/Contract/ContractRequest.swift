internal import COpenSSL
internal import NevodPluginABI
internal import NevodSupport

/// A request. Makes the views that a host would pass for an instance's needs.
package struct ContractRequest: Sendable {
    package enum Body: Sendable, Equatable {
        case none
        case bytes([UInt8])
        /// - Parameters:
        ///   - length: nil if it isn't known in advance.
        ///   - contents: the bytes for digests; nil if the stream can be read only once.
        case stream(length: UInt64?, contents: [UInt8]?)
    }

    package var method: String
    package var scheme: String
    /// The URL's authority.
    package var authority: String
    /// The Host line: the caller's, or the URL's authority.
    package var host: String
    /// The request target in the origin form.
    package var target: String
    /// The header lines without `Host`, which a view adds.
    package var headers: [ContractPair]
    package var body: Body
    package var isForProxy = false

    /// Returns nil unless the URL is absolute, with `http` or `https`. Leaves out a default port and a fragment.
    package init?(_ method: String, _ url: String, headers: [ContractPair] = [], body: Body = .none) {
        let text = url.prefix { $0 != "#" }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end].lowercased()
        let defaultPort = scheme == "http" ? ":80" : ":443"
        if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.utf8.count) }
        guard !authority.isEmpty else { return nil }
        self.authority = authority
        let path = rest[end...]
        target = path.isEmpty ? "/" : path.hasPrefix("?") ? "/\(path)" : String(path)
        self.method = method
        let own = headers.first { Self.isHost($0) }.map { String(decoding: $0.value, as: UTF8.self) }
        host = own ?? authority
        self.headers = headers.filter { !Self.isHost($0) }
        self.body = body
    }

    private static func isHost(_ line: ContractPair) -> Bool { String(decoding: line.name, as: UTF8.self).lowercased() == "host" }

    package var url: String { "\(scheme)://\(authority)\(target)" }

    /// Returns the view of the request for an instance with these needs.
    ///
    /// - Parameters:
    ///   - unixTime: in nanoseconds since 1970.
    ///   - random: 32 bytes; shown if the needs ask for them.
    ///   - state: shown if the needs ask for it.
    package func view(
        for needs: ContractNeeds, at unixTime: Int64, random: [UInt8], state: [UInt8] = [], useCount: UInt64 = 0,
        attempt: UInt32 = 1, parameters: [ContractPair] = []
    ) -> ContractView {
        var view = ContractView()
        view.method = Array(method.utf8)
        view.scheme = Array(scheme.utf8)
        view.authority = Array((isForProxy ? authority : host).utf8)
        view.target = Array(target.utf8)
        if isForProxy { showProxy(&view) } else { showOrigin(&view, needs) }
        view.attempt = attempt
        view.unixTime = unixTime
        if needs.has(NEVOD_NEED_RANDOM) { view.random = random }
        if needs.has(NEVOD_NEED_USE_COUNT) { view.useCount = useCount }
        if needs.has(NEVOD_NEED_STATE) { view.state = state }
        view.parameters = parameters
        return view
    }

    private func showOrigin(_ view: inout ContractView, _ needs: ContractNeeds) {
        if needs.has(NEVOD_NEED_HEADERS) { view.headers = [ContractPair("Host", host)] + headers }
        switch body {
        case .none: break
        case .bytes(let bytes):
            view.bodyKind = Int32(bytes.isEmpty ? NEVOD_BODY_NONE : NEVOD_BODY_BYTES)
            view.bodyLength = UInt64(bytes.count)
            if needs.has(NEVOD_NEED_BODY) { view.body = bytes }
            if !bytes.isEmpty { view.digests = Self.digests(needs.digests, of: bytes) }
        case .stream(let length, let contents):
            view.bodyKind = Int32(length == 0 ? NEVOD_BODY_NONE : NEVOD_BODY_STREAM)
            view.bodyLength = length ?? .max
            if length != 0, let contents { view.digests = Self.digests(needs.digests, of: contents) }
        }
    }

    /// Shows the absolute form, or a request for a tunnel (RFC 9112 §3.2).
    private func showProxy(_ view: inout ContractView) {
        view.targetKind = Int32(NEVOD_TARGET_PROXY)
        guard scheme == "https" else {
            view.target = Array(url.utf8)
            return
        }
        let name = authority.last == "]" || !authority.contains(":") ? "\(authority):443" : authority
        view.method = Array("CONNECT".utf8)
        view.authority = Array(name.utf8)
        view.target = Array(name.utf8)
    }

    /// The digests of a body, in the order of `names`.
    package static func digests(_ names: [[UInt8]], of body: [UInt8]) -> [ContractPair] {
        names.compactMap { name in BodyDigests.digest(name, of: body).map { ContractPair(name, $0) } }
    }
}

/// A `nevod_needs`, as an instance returned it.
package struct ContractNeeds: Sendable, Equatable {
    /// `NEVOD_NEED_…`.
    package var flags: UInt32 = 0
    /// The digests of a request's body.
    package var digests: [[UInt8]] = []
    /// The digests of a response's body.
    package var responseDigests: [[UInt8]] = []
    package var challengeStatuses: [Int32] = []
    package var challengeTypes: [[UInt8]] = []

    package init() {}

    /// - Parameter flag: `NEVOD_NEED_…`.
    package func has(_ flag: Int) -> Bool { flags & UInt32(truncatingIfNeeded: flag) != 0 }

    /// Whether a response is a challenge by its media type.
    func namesType(of response: ContractResponse, to method: String) -> Bool {
        guard method != "HEAD", (200...299).contains(response.status), response.status != 204,
            let line = response.headers.first(where: { $0.name.lazy.map(\.lowercased).elementsEqual("content-type".utf8) }),
            let type = MediaType(contentType: line.value)
        else { return false }
        return challengeTypes.contains { MediaType(name: $0) == type }
    }

    init(_ pointer: UnsafePointer<nevod_needs>, _ reader: inout TableReader) {
        guard let table = reader.table(pointer, nevod_needs(), NEVOD_NEEDS_MINIMUM, "nevod_needs") else { return }
        flags = table.flags
        digests = reader.array(table.digests, table.digest_count, "nevod_needs.digests").map {
            reader.bytes($0, "a digest's name")
        }
        responseDigests = reader.array(table.response_digests, table.response_digest_count, "nevod_needs.response_digests")
            .map { reader.bytes($0, "a digest's name") }
        challengeStatuses = Array(
            reader.array(table.challenge_statuses, table.challenge_status_count, "nevod_needs.challenge_statuses"))
        challengeTypes = reader.array(table.challenge_types, table.challenge_type_count, "nevod_needs.challenge_types").map {
            reader.bytes($0, "a challenge type")
        }
    }
}

/// Digests of bodies, by their names in the registry of RFC 9530.
package enum BodyDigests {
    private static let algorithms = ["sha-256": "SHA256", "sha-384": "SHA384", "sha-512": "SHA512"]

    /// Returns nil for an algorithm that no host of this contract knows, or if libcrypto fails.
    package static func digest(_ name: [UInt8], of body: [UInt8]) -> [UInt8]? {
        guard let algorithm = algorithms[String(decoding: name, as: UTF8.self)] else { return nil }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = digest.count
        guard EVP_Q_digest(nil, algorithm, nil, body, body.count, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(count))
    }
}
